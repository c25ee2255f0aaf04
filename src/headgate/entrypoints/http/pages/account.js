// Signing in and setting a password. Texts come with the page, in its language.
"use strict";

const texts = document.getElementById("texts").dataset;
const error = document.getElementById("error");

function tell(code, fields, seconds) {
  error.textContent = (texts[code] || texts.other).replace("{seconds}", seconds);
  error.classList.toggle("asks", code === "organisation_needed");
  for (const field of fields) field.setAttribute("aria-invalid", "true");
  if (fields.length) fields[0].focus();
}

function clear(form) {
  error.textContent = "";
  for (const field of form.elements) field.removeAttribute("aria-invalid");
}

async function ask(path, body) {
  try {
    const answer = await fetch(path, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    const found = await answer.json();
    return answer.ok ? found : { code: found.code || "other", seconds: found.retry_after_seconds, ...found };
  } catch {
    return { code: "offline" };
  }
}

async function busy(form, work) {
  const button = form.querySelector("[type=submit]");
  button.disabled = true;
  try {
    await work();
  } finally {
    button.disabled = false;
  }
}

for (const button of document.querySelectorAll(".reveal")) {
  button.addEventListener("click", () => {
    const field = document.getElementById(button.dataset.for);
    const shown = field.type === "password";
    field.type = shown ? "text" : "password";
    button.setAttribute("aria-pressed", String(shown));
    button.textContent = shown ? button.dataset.hide : button.dataset.show;
  });
}

function signIn(form) {
  const { email, password, organisation } = form.elements;
  const choice = document.getElementById("organisations");
  const failed = new URLSearchParams(location.search).get("error");
  if (failed !== null) tell(Object.hasOwn(texts, failed) ? failed : "single_sign_on", [], 60);
  for (const field of [email, password]) {
    field.addEventListener("input", () => {
      choice.hidden = true;
      organisation.replaceChildren();
    });
  }
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    clear(form);
    const missing = [email, password].filter((field) => !field.value.trim());
    if (missing.length) {
      tell("empty", missing);
      return;
    }
    busy(form, async () => {
      const body = { email: email.value, password: password.value };
      if (organisation.value) body.organisation = organisation.value;
      const found = await ask("/api/v1/sign-in", body);
      if (!found.code) {
        location.replace(form.dataset.home);
      } else if (found.code === "organisation_needed") {
        organisation.replaceChildren(...found.organisations.map((name) => new Option(name, name)));
        choice.hidden = false;
        tell(found.code, []);
        organisation.focus();
      } else {
        tell(found.code, found.code === "sign_in_refused" ? [password, email] : [], found.seconds);
      }
    });
  });
}

function setPassword(form) {
  const token = new URLSearchParams(location.hash.slice(1)).get("token") || "";
  const { password, again, username } = form.elements;
  const refuse = (found) => {
    tell(found.code, [], found.seconds);
    if (found.code === "link_refused" || found.code === "bad_request") {
      form.hidden = true;
      error.textContent = texts.link_refused;
      document.getElementById("to-sign-in").hidden = false;
    }
  };
  ask("/api/v1/password-links/look", { token }).then((found) => {
    if (found.code) {
      refuse(found);
      return;
    }
    const owner = document.getElementById("owner");
    owner.querySelector("strong").textContent = `${found.email || found.name} · ${found.organisation}`;
    owner.hidden = false;
    username.value = found.email || found.name;
    form.hidden = false;
    password.focus();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    clear(form);
    if (!password.value || !again.value) {
      tell("empty", [password, again].filter((field) => !field.value));
    } else if ([...password.value.normalize("NFKC")].length < 12) {
      tell("password_short", [password]);
    } else if (password.value !== again.value) {
      tell("differ", [again]);
    } else {
      busy(form, async () => {
        const found = await ask("/api/v1/password-links/use", { token, password: password.value });
        if (!found.code) location.replace(form.dataset.home);
        else if (found.code === "password_refused") tell(found.code, [password]);
        else refuse(found);
      });
    }
  });
}

const form = document.querySelector("form");
if (form.id === "sign-in") signIn(form);
else setPassword(form);
