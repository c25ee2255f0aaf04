import { Eye, EyeOff } from "lucide-react";
import { type ComponentProps, useState } from "react";
import { IconButton, Input } from "@/components/ui";
import { useAccountTexts } from "./texts";

/** A password, which can be shown while it is typed. */
export function PasswordInput(props: ComponentProps<typeof Input>) {
  const t = useAccountTexts();
  const [shown, setShown] = useState(false);
  return (
    <div className="relative">
      <Input {...props} type={shown ? "text" : "password"} className="h-10 pr-10" />
      <IconButton
        size="sm"
        label={t(shown ? "hide" : "show")}
        on={shown}
        className="absolute top-1.5 right-1.5"
        onClick={() => setShown(!shown)}
      >
        {shown ? <EyeOff /> : <Eye />}
      </IconButton>
    </div>
  );
}
