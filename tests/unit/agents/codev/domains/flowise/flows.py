"""Compact descriptions of flows that were really run on Flowise 3.1.4."""

from typing import Any

LLM_CHAIN: dict[str, Any] = {
    "nodes": [
        {
            "id": "chatOpenAI_0",
            "name": "chatOpenAI",
            "inputs": {"temperature": 0, "basepath": "http://127.0.0.1:3112/v1"},
            "credential": "a5cc2497-8f47-42d1-9982-3b741a78d808",
        },
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
TWO_FUNCTIONS: dict[str, Any] = {
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
                "javascriptFunction": "return 'got ' + $up + ' in ' + $flow.sessionId;",
            },
        },
    ],
    "edges": [{"from": "customFunction_0", "to": "customFunction_1.functionInputVariables"}],
}
AGENT: dict[str, Any] = {
    "nodes": [
        {"id": "startAgentflow_0", "name": "startAgentflow", "inputs": {"startInputType": "chatInput"}},
        {
            "id": "agentAgentflow_0",
            "name": "agentAgentflow",
            "inputs": {
                "agentModel": "chatOpenAI",
                "agentModelConfig": {"modelName": "gpt-4o-mini"},
                "agentMessages": [{"role": "system", "content": "Answer in French."}],
                "agentTools": [{"agentSelectedTool": "calculator"}],
            },
        },
    ],
    "edges": [{"from": "startAgentflow_0", "to": "agentAgentflow_0"}],
}
AGENTFLOW: dict[str, Any] = {
    "nodes": [
        {"id": "startAgentflow_0", "name": "startAgentflow", "inputs": {"startInputType": "chatInput"}},
        {
            "id": "conditionAgentflow_0",
            "name": "conditionAgentflow",
            "inputs": {
                "conditions": [
                    {"type": "string", "value1": "{{ question }}", "operation": "contains", "value2": "a"},
                    {"type": "string", "value1": "{{ question }}", "operation": "contains", "value2": "b"},
                ]
            },
        },
        {"id": "directReplyAgentflow_0", "name": "directReplyAgentflow", "inputs": {"directReplyMessage": "Has a."}},
        {"id": "directReplyAgentflow_1", "name": "directReplyAgentflow", "inputs": {"directReplyMessage": "Neither."}},
    ],
    "edges": [
        {"from": "startAgentflow_0", "to": "conditionAgentflow_0"},
        {"from": "conditionAgentflow_0.0", "to": "directReplyAgentflow_0"},
        {"from": "conditionAgentflow_0.2", "to": "directReplyAgentflow_1"},
    ],
}
