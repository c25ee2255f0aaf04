import { createContext, type ReactNode, useContext } from "react";

const MayAnswer = createContext(true);
/** Says to a card whether the person may answer it. */
export const Answerable = MayAnswer.Provider;
export const useMayAnswer = () => useContext(MayAnswer);

/** What a part of a card answers with: dead for who may only read it. What is read stays as it is. */
export const Answering = ({ children }: { children: ReactNode }) => (
  <fieldset disabled={!useMayAnswer()} className="contents">
    {children}
  </fieldset>
);

/** What there is to look at and to fill in. */
export const CardBody = ({ children }: { children: ReactNode }) => (
  <div className="flex flex-col gap-4 p-4">{children}</div>
);

/** What can be decided: in view, however long the card is. */
export const CardFoot = ({ children }: { children: ReactNode }) => (
  <Answering>
    <footer className="sticky bottom-0 flex flex-wrap items-center gap-2 border-t border-line bg-surface px-4 py-3">
      {children}
    </footer>
  </Answering>
);
