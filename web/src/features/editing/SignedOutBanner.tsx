import { create } from "zustand";
import { Banner } from "./Banner";
import { useEditingTexts } from "./texts";

/** Whether the server no longer knows who saves here. */
export const useSignedOut = create<{ out: boolean }>(() => ({ out: false }));

/** The session ended while somebody wrote: nothing is saved until they sign in, and then it is offered back. */
export function SignedOutBanner() {
  const t = useEditingTexts();
  const { out } = useSignedOut();
  if (!out) return null;
  const { pathname, search, hash } = window.location;
  return (
    <Banner
      tone="warn"
      title={t("signed_out_title")}
      actions={
        <a
          href={`/sign-in?next=${encodeURIComponent(pathname + search + hash)}`}
          className="inline-flex h-7 items-center px-2 text-sm font-medium text-ink hover:underline"
        >
          {t("sign_in")}
        </a>
      }
    >
      {t("signed_out_more")}
    </Banner>
  );
}
