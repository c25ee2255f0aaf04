"""A catalog for tests of the graph: the built-in components as templates, written down without the SDK."""

import re
from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from headgate.graph.ports import PortType
from headgate.graph.template import FieldKind, FieldTemplate, OutputTemplate, Template

_TYPES = {"T": PortType.TEXT, "G": PortType.MESSAGE, "D": PortType.DATA, "B": PortType.TABLE, "F": PortType.FILE}
_TYPES |= {"M": PortType.MODEL, "X": PortType.TOOL}
_KINDS = {
    "json": FieldKind.JSON,
    "int": FieldKind.INTEGER,
    "num": FieldKind.NUMBER,
    "bool": FieldKind.BOOLEAN,
    "code": FieldKind.CODE,
    "model": FieldKind.MODEL,
    "tools": FieldKind.TOOLS,
    "secret": FieldKind.SECRET,
}
_FIELD = re.compile(r"(\w+)(\*?)(@?)(\[\])?(~?)(!?)(?::([A-Z]+))?(?:=(\S+))?")

DECLARED = """
ChatInput       input   text:T                                                -> text:T message:G files:D
TextInput       input   text~                                                 -> text:T
FormInput       input   only=json                                             -> data:D text:T
FileInput       input   field                                                 -> file:F files:D
ChatOutput      output  input*@:TG                                            -> message:G text:T
SaveFile        output  content*@:TBD name                                    -> file:F
WebhookOut      output  url* payload@:DT headers=json secret=secret           -> response:D
PromptTemplate  text    template*!                                            -> text:T
CombineText     text    parts*@[]:T separator title                           -> text:T
SplitText       text    text*@~:T by=paragraph|line|sentence size=int         -> chunks:D count:D
Regex           text    text*@~:T pattern*~ mode=find|extract|replace|test    -> matches:D text:T found:D
ParseJSON       data    text*@:T                                              -> data:D table:B
SelectData      data    data*@:DB expression*                                 -> data:D text:T
TableQuery      data    table*@[]:B sql*~                                     -> table:B data:D
ReadFile        data    file*@:F                                              -> text:T table:B data:D
Calculator      data    expression*~                                          -> result:D text:T
MessageHistory  data    limit=int                                             -> data:D text:T
CurrentDate     data    timezone~ format                                      -> text:T data:D
HTTPRequest     web     method~=GET|POST url*~ headers=json body~:TD          -> data:D text:T status:D
URL             web     url*@~:T                                              -> text:T title:T links:D
If              logic   value*@:TDB field operator=contains|equals compare    -> true?:D false?:D
Switch          logic   value*@:TD cases*=json field                          -> otherwise?:D
Merge           logic   values*@[]:TDB mode=first|all|text                    -> value:D text:T
Map             logic   items*@:DB each:X argument template! concurrency=int  -> results:D table:B text:T
Approval        logic   value*@:TDB                                           -> approve?:D reject?:D timeout?:D
Wait            logic   seconds=num value@:TDB                                -> value:D
Python          code    inputs*@:DTB source*!=code                            -> result:D text:T table:B
LanguageModel   ai      model*:M=model input@:TG system temperature=num       -> text:T message:G model:M
AIStep          ai      prompt* model*:M=model input@:TDBG output_type=text|json -> output:T data:D
Agent           ai      model*:M=model tools[]:X=tools input*@:TG max_steps=int -> response:T message:G calls:D
StructuredOutput ai     model*:M=model input*@:TD schema*=json                -> data:D table:B
Note            note    text                                                  ->
"""


def _field(text: str) -> FieldTemplate:
    name, required, main, many, tool, plain, types, kind = _FIELD.fullmatch(text).groups()  # type: ignore[union-attr]
    options = tuple(kind.split("|")) if kind and "|" in kind else ()
    return FieldTemplate(
        name=name,
        kind=FieldKind.SELECT if options else _KINDS.get(kind or "", FieldKind.TEXT),
        required=bool(required),
        types=tuple(_TYPES[letter] for letter in types or ""),
        many=bool(many),
        options=options,
        tool_mode=bool(tool),
        interpolate=not plain,
        main=bool(main),
    )


def _output(text: str) -> OutputTemplate:
    name, _, type_ = text.partition(":")
    return OutputTemplate(name=name.rstrip("?"), type=_TYPES[type_], branch=name.endswith("?"))


def _template(line: str) -> Template:
    left, _, right = line.partition("->")
    type_, category, *fields = left.split()
    return Template(
        type=type_,
        label=type_,
        description=f"{type_}.",
        category=category,
        fields=tuple(_field(one) for one in fields),
        outputs=tuple(_output(one) for one in right.split()),
        annotation=category == "note",
        model_using=category == "ai",
        outside=category == "web" or type_ == "WebhookOut",
        reads_input=category == "input" or type_ == "MessageHistory",
    )


class Palette:
    """The catalog of the declared components; Switch and PromptTemplate get ports from their params."""

    def __init__(self) -> None:
        self.templates = {one.type: one for one in map(_template, DECLARED.strip().splitlines())}

    def types(self) -> Sequence[str]:
        return sorted(self.templates)

    def code(self, type_: str) -> str | None:
        return None

    def template(self, type_: str, params: Mapping[str, JsonValue] | None = None) -> Template | None:
        found = self.templates.get(type_)
        if found is None or not params:
            return found
        cases = params.get("cases")
        if type_ == "Switch" and isinstance(cases, list):
            extra = tuple(OutputTemplate(name=str(case), type=PortType.DATA, branch=True) for case in cases)
            return found.model_copy(update={"outputs": extra + found.outputs})
        if type_ == "PromptTemplate":
            names = dict.fromkeys(re.findall(r"\{([a-z_]+)\}", str(params.get("template", ""))))
            ports = tuple(
                FieldTemplate(name=name, kind=FieldKind.TEXT, types=(PortType.TEXT, PortType.DATA)) for name in names
            )
            return found.model_copy(update={"fields": found.fields + ports})
        return found


PALETTE = Palette()
