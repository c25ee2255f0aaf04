import { useQuery } from "@tanstack/react-query";
import { meQuery } from "@/api/queries/me";
import { secondFactorQuery } from "@/api/queries/secondFactor";
import { ConfirmForm, EnrolTotp } from "@/components/secondFactor";
import { Callout, Skeleton } from "@/components/ui";
import { AccountFrame } from "./AccountFrame";
import { useAccountTexts } from "./texts";

/** For a session without the second factor that the organisation requires: set one up, or confirm with it. */
export function SecondFactorStep({ onDone }: { onDone: () => void }) {
  const t = useAccountTexts();
  const me = useQuery(meQuery); // its answer carries the token of changes
  const own = useQuery({ ...secondFactorQuery, enabled: me.isSuccess });
  return (
    <AccountFrame title={t("protect")} about={t("protect_more")}>
      {own.isError && <Callout tone="bad">{t("error_general")}</Callout>}
      {!own.data && !own.isError && <Skeleton className="h-40" />}
      {own.data &&
        (own.data.methods.length > 0 ? (
          <ConfirmForm methods={own.data.methods} onDone={onDone} />
        ) : (
          <EnrolTotp onDone={onDone} />
        ))}
    </AccountFrame>
  );
}
