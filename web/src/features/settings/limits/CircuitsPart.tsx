import { useQuery } from "@tanstack/react-query";
import { type Circuit, circuitKeys, circuitsQuery, resetCircuit } from "@/api/queries/circuits";
import { Button, Problem, Row, Rows } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { dateTime } from "@/lib/i18n/format";
import { Part } from "../Section";
import { useSettingsTexts } from "../texts";

/** Hosts that fail: how often, whether flows call them now, and a way to reset them. */
export function CircuitsPart() {
  const t = useSettingsTexts();
  const { data } = useQuery(circuitsQuery);
  const reset = useChange({ change: resetCircuit, touches: [circuitKeys.all] });
  return (
    <Part title={t("circuits")} about={t("circuits_about")}>
      {reset.isError && <Problem error={reset.error} />}
      {data?.length === 0 && <p className="text-muted text-sm">{t("circuits_none")}</p>}
      {data && data.length > 0 && (
        <Rows label={t("circuits")}>
          {data.map((circuit) => (
            <Row
              key={circuit.host}
              title={circuit.host}
              detail={stateOf(t, circuit)}
              aside={
                <Button
                  size="sm"
                  aria-label={t("circuit_reset_of", { host: circuit.host })}
                  busy={reset.isPending}
                  onClick={() => reset.mutate(circuit.host)}
                >
                  {t("circuit_reset")}
                </Button>
              }
            />
          ))}
        </Rows>
      )}
    </Part>
  );
}

function stateOf(t: ReturnType<typeof useSettingsTexts>, { state, failures, last_error, open_until }: Circuit): string {
  const until = open_until === null ? "" : dateTime(open_until);
  return t(`circuit_${state}`, { count: failures, error: last_error, until });
}
