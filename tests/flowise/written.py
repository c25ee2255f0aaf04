"""Chatflows that work without the internet, as a model describes them."""

from typing import Any


def two_functions(word: str = "got") -> dict[str, Any]:
    """A function, and one that uses what it gave: `abc` becomes `got ABC`."""
    return {
        "nodes": [
            {
                "id": "customFunction_0",
                "name": "customFunction",
                "inputs": {"javascriptFunction": "return $input.toUpperCase();"},
            },
            {
                "id": "customFunction_1",
                "name": "customFunction",
                "inputs": {
                    "functionInputVariables": {"up": "{{customFunction_0.data.instance}}"},
                    "javascriptFunction": f"return '{word} ' + $up;",
                },
            },
        ],
        "edges": [],
    }


def chain(base_url: str) -> dict[str, Any]:
    """A chain with a model of OpenAI's protocol at an address: asks it `Say: abc`."""
    return {
        "nodes": [
            {"id": "chatOpenAI_0", "name": "chatOpenAI", "inputs": {"modelName": "gpt-4o-mini", "basepath": base_url}},
            {
                "id": "promptTemplate_0",
                "name": "promptTemplate",
                "inputs": {"template": "Say: {q}", "promptValues": {"q": "{{question}}"}},
            },
            {"id": "llmChain_0", "name": "llmChain"},
        ],
        "edges": [
            {"from": "chatOpenAI_0", "to": "llmChain_0.model"},
            {"from": "promptTemplate_0", "to": "llmChain_0.prompt"},
        ],
    }


def reply() -> dict[str, Any]:
    """An AgentflowV2 that says what it was told: `You said abc`."""
    return {
        "nodes": [
            {"id": "startAgentflow_0", "name": "startAgentflow"},
            {
                "id": "directReplyAgentflow_0",
                "name": "directReplyAgentflow",
                "inputs": {"directReplyMessage": "You said {{question}}"},
            },
        ],
        "edges": [{"from": "startAgentflow_0", "to": "directReplyAgentflow_0"}],
    }


def model(base_url: str, credential: str) -> dict[str, Any]:
    """An AgentflowV2 whose one step asks a model what it was asked."""
    config = {"modelName": "gpt-4o-mini", "basepath": base_url, "credential": credential}
    return _after_start("llmAgentflow", {"llmModel": "chatOpenAI", "llmModelConfig": config})


def agent(base_url: str, credential: str) -> dict[str, Any]:
    """An AgentflowV2 with an agent that has a calculator."""
    config = {"modelName": "gpt-4o-mini", "basepath": base_url, "credential": credential}
    tools = [{"agentSelectedTool": "calculator"}]
    inputs = {"agentModel": "chatOpenAI", "agentModelConfig": config, "agentTools": tools}
    return _after_start("agentAgentflow", inputs)


def _after_start(name: str, inputs: dict[str, Any]) -> dict[str, Any]:
    nodes = [{"id": "startAgentflow_0", "name": "startAgentflow"}, {"id": f"{name}_0", "name": name, "inputs": inputs}]
    return {"nodes": nodes, "edges": [{"from": "startAgentflow_0", "to": f"{name}_0"}]}


def function(code: str) -> dict[str, Any]:
    """One function that answers."""
    inputs = {"javascriptFunction": code}
    return {"nodes": [{"id": "customFunction_0", "name": "customFunction", "inputs": inputs}], "edges": []}
