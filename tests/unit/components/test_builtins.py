"""What holds for every built-in component."""

import gzip
import json
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence

from jsonschema import Draft202012Validator
from pydantic import JsonValue

from headgate.components import BUILTINS
from headgate.components.document import example
from headgate.graph.model import PORT_PATTERN, TYPE_PATTERN
from headgate.graph.ports import PortType
from headgate.graph.spec import read_spec
from headgate.graph.template import TOOL_OUTPUT, FieldTemplate, OutputTemplate, Template
from headgate.graph.validate import check_runnable
from headgate.sdk import tool_name

CONTRACT = """
ChatInput: text -> text:Text message:Message files:Data
TextInput: text~ -> text:Text
FormInput: only -> data:Data text:Text
FileInput: field -> file:File files:Data
InstalledPackages: match~ licence_texts -> table:Table text:Text
ChatOutput: input*@(Text|Message) -> message:Message text:Text
SaveFile!: content*@(Text|Table|Data) name -> file:File
MakeDocument!: content*@(Text|Message|Table|Data) format name title images[](File) page_size language -> file:File
WriteSpreadsheet!: tables*@[](Table) name sheet_names -> file:File
Chart!: table*@(Table) kind labels values title(Text) format name -> file:File
QRCode!: text*@~(Text) format name -> file:File
CreateArchive!: files*@[](File) name -> file:File
CreateCalendar!: events*@(Table) timezone name -> file:File
WebhookOut!: url* payload@(Data|Text) headers secret -> response:Data
SendMail!: server* to*~(Text) subject*~(Text) body*@~(Text|Message|Data|Table) attachments[](File) -> data:Data
Notify!: service* text*@~(Text|Message|Data|Table) title~(Text) -> data:Data
PromptTemplate: template* -> text:Text
CombineText: parts*@[](Text) separator title -> text:Text
SplitText: text*@~ by separator size overlap -> chunks:Data count:Data
Regex: text*@~ pattern*~ mode replacement ignore_case -> matches:Data text:Text found:Data
ParseJSON: text*@ -> data:Data table:Table
SelectData: data*@(Data|Table) expression* -> data:Data text:Text
TableQuery: table*@[](Table) sql*~ -> table:Table data:Data
ReadFile: file*@(File) -> text:Text table:Table data:Data
SqlQuery: database* file(File) sql*~ parameters@~(Data) -> table:Table data:Data csv:File
SqlWrite!: database* rows*@(Table) mode table keys sql -> data:Data
SqlSchema: database* file(File) match@~(Text) -> table:Table text:Text
ReadMail: mailbox* folder(Text) from@~(Text) subject~(Text) since~(Text) unseen most_messages mark_seen \
 -> messages:Table files:Data text:Text
ReadSpreadsheet: file*@(File) sheet header_row -> table:Table sheets:Data
ExtractArchive: archive*@(File) pattern -> entries:Table files:Data file:File
FolderFiles: folder@(Text) pattern storage -> files:Data table:Table
WriteFile!: storage* files[]*@(File) folder name replace -> data:Data
MoveFile!: storage* path*@(Text) action target replace -> data:Data
GitFiles: server* repository@(Text) ref(Text) pattern -> files:Data table:Table commit:Data
GitHistory: server* repository@(Text) ref(Text) since(Text) -> commits:Table changes:Table diff:Text
CommitFiles!: server* repository branch* message* files[]@(File) folder name -> data:Data
OpenChange!: server* repository* branch*@(Text) target title* description draft -> data:Data
ConvertImage: image*@(File) width height mode format -> file:File data:Data text:Text
ExtractXML: xml*@(Text) expression*~ namespaces -> data:Data text:Text
Calculator: expression*~ -> result:Data text:Text
CurrentDate: timezone~ format -> text:Text data:Data
DateMath: date@~(Text) operation~ amount~ unit~ other~(Text) timezone~ holidays(Text) -> text:Text data:Data
ReadCalendar: text*@(Text) from(Text) to(Text) timezone -> events:Table
MessageHistory: limit -> text:Text messages:Data
ReadState: name* default -> value:Data text:Text version:Data
WriteState!: name* value@(Text|Data|Table) operation most expected_version(Data) \
 -> value:Data previous:Data version:Data
WaitForState: name* until* interval_seconds timeout_hours value@(Text|Data|Table) -> value:Data? timeout:Data?
ApiCall!: connection* operation* arguments@(Data|Text) pages paging contract \
 timeout_seconds -> data:Data status:Data problems:Data
HTTPRequest: method~ url*~ headers body~(Text|Data) timeout_seconds -> data:Data text:Text status:Data
URL: url*~@ -> text:Text title:Text links:Data
ExtractHTML: html*@(Text) selector*~ columns attribute -> table:Table data:Data text:Text
ReadFeed: url*@~(Text) most_items since(Text) -> items:Table data:Data text:Text
ReadSitemap: url*@~(Text) most_urls -> urls:Table
If: value*@(Text|Data|Table) field operator compare ignore_case -> true:Data? false:Data?
Switch: value*@(Text|Data) cases* field -> otherwise:Data?
Merge: values*@[](Text|Data|Table) mode separator -> value:Data text:Text
Map: items*@(Text|Data|Table) each(Tool) argument template concurrency with_item \
 -> results:Data table:Table errors:Data text:Text
RunFlow!: flow* version text@~(Text|Message) answers~(Data) files[](File) -> result:Data text:Text run_id:Text
ForEach!: items*@(Text|Data|Table) flow* version template item_field answers parallel with_item \
 -> results:Data table:Table errors:Data text:Text
ForEachPage!: flow* version url*@(Text) headers parameter next items template item_field answers parallel most_pages \
 -> results:Data table:Table errors:Data text:Text pages:Table summary:Data
Loop!: flow* version value*@(Text|Data) value_field until* most* pause_seconds timeout_hours \
 -> result:Data text:Text rounds:Data reached:Data? timeout:Data?
Wait: seconds until cron timezone value@(Text|Data|Table) -> value:Data
WaitForEvent: event* correlation timeout_hours value@(Text|Data|Table) -> data:Data? details:Data? timeout:Data?
SendEvent!: data@~(Text|Data|Table) event* correlation~ deliver keep_hours -> value:Data event_id:Text
Approval: value*@(Text|Data|Table) question assignees needed not_starter timeout_hours questions editable \
 -> approve:Data? reject:Data? timeout:Data? decision:Data
Python: inputs*@(Data|Text|Table) source* -> result:Data text:Text table:Table
LanguageModel: model*(Model) input@(Text|Message) files[](File) system temperature \
 -> text:Text message:Message model:Model
AIStep: prompt* model*(Model) tools[](Tool) input@~(Text|Data|Table|Message) files[](File) output_type \
 -> output:Text data:Data
Agent: model*(Model) tools[](Tool) input*@~(Text|Message) files[](File) instructions max_steps \
 -> response:Text message:Message calls:Data
McpTools!: server* tools -> tools:Tool
McpCall!: server* tool_name* arguments@(Data|Text) -> data:Data
ApiTools!: connection* operations* -> tools:Tool
WorkspaceFiles!: root_path read_only -> tools:Tool metadata:Data
StructuredOutput: model*(Model) input*@~(Text|Data) schema* -> data:Data table:Table
Classify: model*(Model) value*@(Text|Data|Table) labels* instructions min_confidence -> otherwise:Data? decision:Data
Retrieve: base* query*@~(Text|Message) limit max_tokens query_model(Model) queries conversation \
 -> text:Text table:Table citations:Data
AnswerFromKnowledge: base* question*@~(Text|Message) model*(Model) instructions limit max_tokens temperature \
 -> answer:Text message:Message citations:Data sentences:Data supported:Data
Rerank: items*@(Text|Data|Table) query*~(Text|Message) model*(Model) limit -> ranked:Data text:Text table:Table
IndexDocuments!: documents*@(Text|Data|Table|File) base* name metadata readers wait_seconds -> report:Data table:Table
Embed: items*@(Text|Data|Table) model*(Model) member -> vectors:Data table:Table
Transcribe: model*(Model) audio*@(File) language words -> text:Text message:Message data:Data
Note: text ->
Group: title colour width height ->
"""
"""Type (! effect), fields (* required, @ main, ~ for agents, [] many, port types), outputs (? branch)."""
_FIELD = re.compile(r"(?P<name>\w+)(?P<marks>[*@~\[\]]*)(?:\((?P<types>[\w|]+)\))?")
ROWS = CONTRACT.strip().splitlines()
TEMPLATES = [component.template() for component in BUILTINS]


class Builtins:
    """A catalog of the built-in components."""

    def types(self) -> Sequence[str]:
        return sorted(component.__name__ for component in BUILTINS)

    def template(self, type_: str, params: Mapping[str, JsonValue] | None = None) -> Template | None:
        found = next((component for component in BUILTINS if component.__name__ == type_), None)
        return found.template(params) if found else None

    def code(self, type_: str) -> str | None:
        return None


class TestContract:
    def test_has_the_fields_and_outputs_that_flows_rely_on(self) -> None:
        for row in ROWS:
            self.check_row(row)

    def check_row(self, row: str) -> None:
        head, _, rest = row.partition(":")
        fields, _, outputs = rest.partition("->")
        template = Builtins().template(head.rstrip("!"))
        assert template is not None, head
        assert template.effect is head.endswith("!"), head
        for match in _FIELD.finditer(fields):
            field = template.field(match["name"])
            name = f"{head}.{match['name']}"
            assert field is not None, name
            assert field.required is ("*" in match["marks"]), name
            assert field.tool_mode is ("~" in match["marks"]), name
            assert field.many is ("[]" in match["marks"]), name
            if "@" in match["marks"]:
                assert template.main_field == field, name
            if match["types"]:
                wanted = [PortType(name) for name in match["types"].split("|")]
                assert (field.types[0], set(field.types)) == (wanted[0], set(wanted)), name
        found = [f"{out.name}:{out.type}{'?' if out.branch else ''}" for out in template.outputs]
        assert found == outputs.split(), head

    def test_is_all_there_is(self) -> None:
        assert sorted(row.partition(":")[0].rstrip("!") for row in ROWS) == Builtins().types()

    def test_marks_what_calls_models(self) -> None:
        using = {template.type for template in TEMPLATES if template.model_using}
        assert using == {"LanguageModel", "AIStep", "Agent", "StructuredOutput", "Classify", "AnswerFromKnowledge",
            "Rerank", "Embed", "Transcribe",
        }  # fmt: skip
        assert [template.type for template in TEMPLATES if template.annotation] == ["Note", "Group"]


class TestEveryTemplate:
    def test_is_json(self) -> None:
        for template in TEMPLATES:
            assert Template.model_validate_json(template.model_dump_json()) == template

    def test_explains_itself(self) -> None:
        for template in TEMPLATES:
            self.check_explanation(template)

    def check_explanation(self, template: Template) -> None:
        assert re.fullmatch(TYPE_PATTERN, template.type)
        assert len(template.description) > 20, template.type
        assert re.fullmatch(r"[a-z0-9-]+", template.icon), template.type
        assert template.icon != "box", template.type
        assert template.category in {"input", "output", "text", "data", "web", "logic", "code", "ai", "note"}
        assert 8 <= len(template.keywords) <= 25, template.type
        assert len(set(template.keywords)) == len(template.keywords), template.type
        parts: list[FieldTemplate | OutputTemplate] = [*template.fields, *template.outputs]
        for part in parts:
            name = f"{template.type}.{part.name}"
            assert re.fullmatch(PORT_PATTERN, part.name), name
            assert part.name != TOOL_OUTPUT, name
            assert part.label, name
            assert len(part.help) > 5, name
            assert "\n" not in part.help, name

    def test_has_a_valid_tool_schema(self) -> None:
        for component in BUILTINS:
            schema = component.tool_schema()
            Draft202012Validator.check_schema(schema)
            names = {field.name for field in component.template().fields if field.tool_mode}
            assert set(schema["properties"]) == names, component.__name__  # type: ignore[arg-type]
            assert len(json.dumps(schema)) < 4_000, component.__name__

    def test_has_an_example_that_runs(self) -> None:
        for component in BUILTINS:
            flow = read_spec(example(component.__name__), Builtins())
            assert component.__name__ in {node.type for node in flow.nodes}
            assert check_runnable(flow, Builtins()) == [], component.__name__

    def test_has_a_name_of_its_own(self) -> None:
        assert len({template.type for template in TEMPLATES}) == len(TEMPLATES)
        assert len({template.label for template in TEMPLATES}) == len(TEMPLATES)
        assert len({tool_name(template.type) for template in TEMPLATES}) == len(TEMPLATES)

    def test_is_small_all_together(self) -> None:
        everything = json.dumps([template.model_dump(mode="json") for template in TEMPLATES]).encode()
        assert len(gzip.compress(everything)) < 32_240


class TestImport:
    def test_loads_no_heavy_library(self) -> None:
        heavy = ["langchain", "langchain_core", "langgraph", "pypdf", "docx", "bs4", "markdownify", "lxml", "re2"]
        heavy += ["jsonschema", "referencing", "numpy", "fastapi", "sqlalchemy", "httpx2"]
        code = f"import sys, headgate.components; print([name for name in {heavy} if name in sys.modules])"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == "[]"
