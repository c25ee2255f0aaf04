export function SignInPage() {
  return null;
}
export function SetPasswordPage() {
  return null;
}
