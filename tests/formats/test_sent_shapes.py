"""Messages as programs send them, in the shape of each provider: calls beside each other, results
that failed or are lists, pictures by address and by file, documents, citations, thoughts, refusals,
sounds, tools of the server. Each comes back as it was."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from foreword.formats import read_messages, to_anthropic, to_gemini, to_openai, to_responses
from foreword.formats.bedrock import to_bedrock
from foreword.formats.langchain import to_langchain
from foreword.formats.ollama import to_ollama
from foreword.message import Image, Message

Fields = dict[str, Any]
ANTHROPIC: dict[str, list[Fields]] = {
    "what to do with a large picture": [
        {
            "role": "user",
            "content": [
                {
                    "type": "image",
                    "source": {"type": "url", "url": "https://example.org/a.png"},
                    "transformations": {"oversized_image": "downsize"},
                }
            ],
        }
    ],
    "calls beside each other": [
        {"role": "user", "content": [{"type": "text", "text": "go"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "tool_use", "id": "a", "name": "f", "input": {}},
                {"type": "tool_use", "id": "b", "name": "f", "input": {"x": None}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "b", "content": "2", "is_error": True},
                {
                    "type": "tool_result",
                    "tool_use_id": "a",
                    "content": [
                        {"type": "text", "text": "1"},
                        {
                            "type": "image",
                            "source": {
                                "type": "base64",
                                "media_type": "image/png",
                                "data": "iVBORw0KGgo=",
                            },
                        },
                    ],
                },
                {"type": "text", "text": "and?"},
            ],
        },
    ],
    "thinking": [
        {"role": "user", "content": [{"type": "text", "text": "go"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "", "signature": "s"},
                {"type": "redacted_thinking", "data": "E"},
                {"type": "text", "text": "a"},
            ],
        },
    ],
    "pictures by address and by file": [
        {
            "role": "user",
            "content": [
                {"type": "image", "source": {"type": "url", "url": "https://a/b.png"}},
                {"type": "image", "source": {"type": "file", "file_id": "f_1"}},
                {"type": "text", "text": "a", "cache_control": {"type": "ephemeral", "ttl": "1h"}},
            ],
        }
    ],
    "documents": [
        {
            "role": "user",
            "content": [
                {
                    "type": "document",
                    "source": {"type": "text", "media_type": "text/plain", "data": "words here"},
                    "title": "T",
                    "context": "c d",
                    "citations": {"enabled": True},
                },
                {
                    "type": "document",
                    "source": {
                        "type": "base64",
                        "media_type": "application/pdf",
                        "data": "JVBERi0=",
                    },
                },
                {
                    "type": "search_result",
                    "source": "https://x",
                    "title": "T t",
                    "content": [{"type": "text", "text": "found it"}],
                    "citations": {"enabled": True},
                },
                {"type": "container_upload", "file_id": "f"},
            ],
        }
    ],
    "a search of the server": [
        {"role": "user", "content": [{"type": "text", "text": "go"}]},
        {
            "role": "assistant",
            "content": [
                {
                    "type": "server_tool_use",
                    "id": "s1",
                    "name": "web_search",
                    "input": {"query": "q r"},
                },
                {
                    "type": "web_search_tool_result",
                    "tool_use_id": "s1",
                    "content": [
                        {
                            "type": "web_search_result",
                            "url": "https://x",
                            "title": "T t",
                            "encrypted_content": "E",
                            "page_age": "2 days",
                        }
                    ],
                },
                {
                    "type": "text",
                    "text": "x",
                    "citations": [
                        {
                            "type": "web_search_result_location",
                            "url": "https://x",
                            "title": "T t",
                            "encrypted_index": "i",
                            "cited_text": "c d",
                        }
                    ],
                },
            ],
        },
    ],
    "a call over MCP": [
        {"role": "user", "content": [{"type": "text", "text": "go"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "mcp_tool_use", "id": "m1", "name": "f", "server_name": "s", "input": {}},
                {
                    "type": "mcp_tool_result",
                    "tool_use_id": "m1",
                    "is_error": False,
                    "content": [{"type": "text", "text": "hello w"}],
                },
            ],
        },
    ],
    "code that the server ran": [
        {"role": "user", "content": [{"type": "text", "text": "go"}]},
        {
            "role": "assistant",
            "content": [
                {
                    "type": "server_tool_use",
                    "id": "c1",
                    "name": "bash_code_execution",
                    "input": {"command": "ls -l"},
                },
                {
                    "type": "bash_code_execution_tool_result",
                    "tool_use_id": "c1",
                    "content": {
                        "type": "bash_code_execution_result",
                        "stdout": "a b",
                        "stderr": "",
                        "return_code": 0,
                        "content": [],
                    },
                },
            ],
        },
    ],
    "a result that names tools": [
        {"role": "user", "content": [{"type": "text", "text": "go"}]},
        {
            "role": "assistant",
            "content": [
                {
                    "type": "tool_use",
                    "id": "a",
                    "name": "f",
                    "input": {},
                    "caller": {"type": "direct"},
                }
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "a",
                    "content": [{"type": "tool_reference", "tool_name": "g"}],
                }
            ],
        },
    ],
    "a screenshot": [
        {"role": "user", "content": [{"type": "text", "text": "go"}]},
        {
            "role": "assistant",
            "content": [
                {
                    "type": "tool_use",
                    "id": "a",
                    "name": "computer",
                    "input": {"action": "screenshot"},
                }
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "a",
                    "content": [
                        {
                            "type": "image",
                            "source": {
                                "type": "base64",
                                "media_type": "image/png",
                                "data": "iVBORw0KGgo=",
                            },
                            "cache_control": {"type": "ephemeral"},
                        }
                    ],
                }
            ],
        },
    ],
    "a summary of the server": [
        {"role": "user", "content": [{"type": "text", "text": "go"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "compaction", "content": "summary of it"},
                {"type": "text", "text": "go on"},
            ],
        },
    ],
}

OPENAI: dict[str, list[Fields]] = {
    "an answer to go on with": [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": "Low water is", "prefix": True},
    ],
    "what a proxy tells of thoughts": [
        {
            "role": "assistant",
            "content": "x",
            "thinking_blocks": [{"type": "thinking", "thinking": "a b", "signature": "s"}],
        },
    ],
    "documents of Mistral": [
        {
            "role": "user",
            "content": [{"type": "document_url", "document_url": "https://example.org/a.pdf"}],
        },
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "x"}, {"type": "reference", "reference_ids": [0]}],
        },
    ],
    "a mark for the cache": [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "x", "prompt_cache_breakpoint": {"mode": "explicit"}}
            ],
        }
    ],
    "calls without words": [
        {"role": "user", "content": "go"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "f", "arguments": ""}},
                {"id": "b", "type": "function", "function": {"name": "f", "arguments": "{bad"}},
            ],
        },
        {"role": "tool", "tool_call_id": "a", "content": ""},
        {
            "role": "tool",
            "tool_call_id": "b",
            "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
        },
    ],
    "a developer": [
        {"role": "developer", "content": "d e"},
        {"role": "system", "content": [{"type": "text", "text": "x"}]},
        {"role": "user", "content": "go"},
    ],
    "pictures": [
        {
            "role": "user",
            "name": "bob",
            "content": [
                {"type": "text", "text": "a"},
                {"type": "image_url", "image_url": {"url": "https://a/b.png", "detail": "high"}},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
            ],
        }
    ],
    "sounds and files": [
        {
            "role": "user",
            "content": [
                {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
                {
                    "type": "file",
                    "file": {
                        "filename": "a b.pdf",
                        "file_data": "data:application/pdf;base64,JVBERi0=",
                    },
                },
                {"type": "file", "file": {"file_id": "file-1"}},
            ],
        },
        {"role": "assistant", "audio": {"id": "audio_1"}, "content": None},
    ],
    "an answer that is spoken": [
        {"role": "user", "content": "go"},
        {
            "role": "assistant",
            "content": None,
            "audio": {"id": "a1", "data": "AAAA", "expires_at": 1, "transcript": "hello you"},
            "refusal": None,
        },
    ],
    "a refusal": [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": None, "refusal": "I can not do it."},
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "no no"}]},
    ],
    "citations and thinking": [
        {"role": "user", "content": "go"},
        {
            "role": "assistant",
            "content": "x",
            "annotations": [
                {
                    "type": "url_citation",
                    "url_citation": {
                        "url": "https://a",
                        "title": "A t",
                        "start_index": 0,
                        "end_index": 1,
                    },
                }
            ],
            "reasoning_content": "hm hm",
        },
    ],
    "a tool of one's own": [
        {"role": "user", "content": "go"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c", "type": "custom", "custom": {"name": "code", "input": "print(1)"}}
            ],
        },
        {"role": "tool", "tool_call_id": "c", "content": "1"},
    ],
    "pictures that were drawn": [
        {"role": "user", "content": "go"},
        {
            "role": "assistant",
            "content": "x",
            "reasoning": "hm h",
            "reasoning_details": [
                {
                    "type": "reasoning.text",
                    "text": "hm h",
                    "signature": "s",
                    "format": "anthropic-claude-v1",
                    "index": 0,
                }
            ],
            "images": [
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
            ],
        },
    ],
    "what a stream leaves": [
        {"role": "user", "content": "go"},
        {
            "role": "assistant",
            "content": "x",
            "tool_calls": [
                {
                    "index": 0,
                    "id": "a",
                    "type": "function",
                    "function": {"name": "f", "arguments": "{}"},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "a", "content": "1", "name": "f"},
    ],
}

RESPONSES: dict[str, list[Fields]] = {
    "tools that come later": [
        {"role": "user", "content": "x"},
        {
            "type": "additional_tools",
            "role": "developer",
            "tools": [{"type": "file_search", "vector_store_ids": ["vs_1"]}],
        },
    ],
    "words, pictures and files": [
        {"role": "user", "content": "x"},
        {
            "type": "message",
            "role": "user",
            "content": [
                {"type": "input_text", "text": "a"},
                {"type": "input_image", "image_url": "https://a/b.png", "detail": "auto"},
                {"type": "input_image", "file_id": "file-1", "detail": "low"},
                {
                    "type": "input_file",
                    "filename": "a b.pdf",
                    "file_data": "data:application/pdf;base64,JVBERi0=",
                },
                {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "mp3"}},
            ],
        },
    ],
    "reasoning": [
        {"role": "user", "content": "go"},
        {
            "type": "reasoning",
            "id": "rs",
            "summary": [{"type": "summary_text", "text": "s t"}],
            "encrypted_content": "E",
            "content": [{"type": "reasoning_text", "text": "r t"}],
        },
        {
            "type": "message",
            "id": "m",
            "role": "assistant",
            "status": "completed",
            "content": [
                {
                    "type": "output_text",
                    "text": "x",
                    "annotations": [
                        {"type": "file_citation", "file_id": "f", "index": 1, "filename": "a.txt"}
                    ],
                    "logprobs": [],
                }
            ],
        },
    ],
    "calls beside each other": [
        {"role": "user", "content": "go"},
        {
            "type": "function_call",
            "id": "fc",
            "call_id": "a",
            "name": "f",
            "arguments": "{}",
            "status": "completed",
        },
        {"type": "function_call", "call_id": "b", "name": "f", "arguments": '{"x":1}'},
        {
            "type": "function_call_output",
            "call_id": "a",
            "output": [
                {"type": "input_text", "text": "1"},
                {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo="},
            ],
        },
        {"type": "function_call_output", "call_id": "b", "output": "", "status": "completed"},
    ],
    "a screenshot": [
        {"role": "user", "content": "go"},
        {
            "type": "computer_call",
            "id": "cu",
            "call_id": "c",
            "action": {"type": "click", "x": 1, "y": 2, "button": "left"},
            "pending_safety_checks": [],
            "status": "completed",
        },
        {
            "type": "computer_call_output",
            "call_id": "c",
            "output": {
                "type": "computer_screenshot",
                "image_url": "data:image/png;base64,iVBORw0KGgo=",
            },
        },
    ],
    "tools of the server": [
        {"role": "user", "content": "go"},
        {
            "type": "web_search_call",
            "id": "ws",
            "status": "completed",
            "action": {"type": "search", "query": "a b"},
        },
        {
            "type": "file_search_call",
            "id": "fs",
            "status": "completed",
            "queries": ["q r"],
            "results": [{"text": "found x", "filename": "a", "score": 0.5}],
        },
        {
            "type": "code_interpreter_call",
            "id": "ci",
            "status": "completed",
            "container_id": "c",
            "code": "print(1)",
            "outputs": [{"type": "logs", "logs": "1"}],
        },
        {
            "type": "image_generation_call",
            "id": "ig",
            "status": "completed",
            "result": "iVBORw0KGgo=",
        },
    ],
    "a call over MCP": [
        {"role": "user", "content": "go"},
        {
            "type": "mcp_list_tools",
            "id": "l",
            "server_label": "s",
            "tools": [{"name": "f", "input_schema": {"type": "object"}, "description": "d e"}],
        },
        {
            "type": "mcp_approval_request",
            "id": "ar",
            "server_label": "s",
            "name": "f",
            "arguments": "{}",
        },
        {"type": "mcp_approval_response", "approval_request_id": "ar", "approve": True},
        {
            "type": "mcp_call",
            "id": "mc",
            "server_label": "s",
            "name": "f",
            "arguments": "{}",
            "output": "o p",
            "error": None,
        },
    ],
    "a command": [
        {"role": "user", "content": "go"},
        {
            "type": "local_shell_call",
            "id": "ls",
            "call_id": "c",
            "status": "completed",
            "action": {"type": "exec", "command": ["ls", "-l"], "env": {}},
        },
        {"type": "local_shell_call_output", "id": "ls", "call_id": "c", "output": "a b"},
    ],
    "a tool of one's own": [
        {"role": "user", "content": "go"},
        {
            "type": "custom_tool_call",
            "id": "ct",
            "call_id": "c",
            "name": "code",
            "input": "print(1)",
        },
        {"type": "custom_tool_call_output", "call_id": "c", "output": "1"},
    ],
    "a patch": [
        {"role": "user", "content": "go"},
        {
            "type": "apply_patch_call",
            "id": "ap",
            "call_id": "c",
            "status": "completed",
            "operation": {"type": "update_file", "path": "a", "diff": "+x y"},
        },
        {
            "type": "apply_patch_call_output",
            "call_id": "c",
            "status": "completed",
            "output": "ok ok",
        },
    ],
    "a refusal": [
        {"role": "user", "content": "go"},
        {
            "type": "message",
            "id": "m",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "refusal", "refusal": "no no"}],
        },
    ],
}

GEMINI: dict[str, list[Fields]] = {
    "a signature without words": [
        {"role": "user", "parts": [{"text": "a"}]},
        {"role": "model", "parts": [{"text": "b"}, {"text": "", "thoughtSignature": "c2ln"}]},
    ],
    "words, pictures and files": [
        {
            "role": "user",
            "parts": [
                {"text": "a"},
                {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}},
                {"fileData": {"fileUri": "https://f", "mimeType": "application/pdf"}},
                {"inlineData": {"mimeType": "audio/mp3", "data": "AAAA"}},
            ],
        }
    ],
    "thinking and calls": [
        {"role": "user", "parts": [{"text": "a"}]},
        {
            "role": "model",
            "parts": [
                {"text": "hm", "thought": True},
                {"text": "x", "thoughtSignature": "c2ln"},
                {"functionCall": {"name": "f", "args": {"x": None}}, "thoughtSignature": "c2ln"},
                {"functionCall": {"id": "2", "name": "f", "args": {}}},
            ],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"name": "f", "response": {"result": "1"}}},
                {"functionResponse": {"id": "2", "name": "f", "response": {"error": "bad"}}},
            ],
        },
    ],
    "code that the server ran": [
        {"role": "user", "parts": [{"text": "a"}]},
        {
            "role": "model",
            "parts": [
                {"executableCode": {"language": "PYTHON", "code": "print(1)"}},
                {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}},
            ],
        },
    ],
    "a film": [
        {
            "role": "user",
            "parts": [
                {
                    "fileData": {"fileUri": "https://youtu.be/x"},
                    "videoMetadata": {"startOffset": "1s"},
                },
                {"text": "b"},
            ],
        }
    ],
    "a result with a picture": [
        {"role": "user", "parts": [{"text": "a"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]},
        {
            "role": "function",
            "parts": [
                {
                    "functionResponse": {
                        "name": "f",
                        "response": {"x": 1},
                        "parts": [
                            {"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}
                        ],
                    }
                }
            ],
        },
    ],
    "no role": [{"parts": [{"text": "a"}]}],
}

BEDROCK: dict[str, list[Fields]] = {
    "everything": [
        {
            "role": "user",
            "content": [
                {"text": "a"},
                {"image": {"format": "png", "source": {"bytes": "iVBORw0KGgo="}}},
                {
                    "document": {
                        "format": "pdf",
                        "name": "a b",
                        "source": {"bytes": "JVBERi0="},
                        "citations": {"enabled": True},
                    }
                },
                {"video": {"format": "mp4", "source": {"s3Location": {"uri": "s3://b/c"}}}},
                {"cachePoint": {"type": "default"}},
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "s"}}},
                {"reasoningContent": {"redactedContent": "AAAA"}},
                {"toolUse": {"toolUseId": "a", "name": "f", "input": {}}},
                {"toolUse": {"toolUseId": "b", "name": "f", "input": {}}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "toolResult": {
                        "toolUseId": "a",
                        "content": [{"json": {"x": 1}}, {"text": "y"}],
                        "status": "success",
                    }
                },
                {"toolResult": {"toolUseId": "b", "content": [], "status": "error"}},
            ],
        },
    ],
    "citations": [
        {"role": "user", "content": [{"text": "a"}]},
        {
            "role": "assistant",
            "content": [
                {"citationsContent": {"content": [{"text": "c d"}], "citations": [{"title": "T"}]}}
            ],
        },
    ],
    "words to be guarded": [
        {
            "role": "user",
            "content": [{"guardContent": {"text": {"text": "g h", "qualifiers": ["query"]}}}],
        }
    ],
    "a result that is a list": [
        {"role": "user", "content": [{"text": "a"}]},
        {
            "role": "assistant",
            "content": [{"toolUse": {"toolUseId": "a", "name": "f", "input": {}}}],
        },
        {
            "role": "user",
            "content": [{"toolResult": {"toolUseId": "a", "content": [{"json": [1, 2]}]}}],
        },
    ],
    "sounds and files": [
        {
            "role": "user",
            "content": [{"audio": {"format": "mp3", "source": {"bytes": "AAAA"}}}, {"text": "x"}],
        }
    ],
    "a picture elsewhere": [
        {
            "role": "user",
            "content": [
                {"image": {"format": "png", "source": {"s3Location": {"uri": "s3://b/c"}}}},
                {"text": "x"},
            ],
        }
    ],
}


Write = Callable[[tuple[Message, ...]], list[Fields]]
SHAPES: dict[str, tuple[Write, dict[str, list[Fields]]]] = {
    "anthropic": (to_anthropic, ANTHROPIC),
    "openai": (to_openai, OPENAI),
    "responses": (to_responses, RESPONSES),
    "gemini": (to_gemini, GEMINI),
    "bedrock": (to_bedrock, BEDROCK),
}
CASES = [(shape, name) for shape, (_, talks) in SHAPES.items() for name in talks]


@pytest.mark.parametrize(("shape", "name"), CASES)
def test_what_programs_send_comes_back_as_it_was(shape: str, name: str) -> None:
    write, talks = SHAPES[shape]
    assert write(read_messages(talks[name], "messages")) == talks[name]


def test_an_answer_of_gemini_without_parts_says_nothing() -> None:
    talk = [{"role": "user", "parts": [{"text": "a"}]}, {"role": "model"}]
    asked, answer = read_messages(talk, "messages")
    assert (asked.text, answer.role, answer.parts) == ("a", "assistant", ())


def test_pictures_of_ollama_and_of_openrouter_are_told_apart() -> None:
    data = "iVBORw0KGgo="
    drawn = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}
    for images in ([data], [drawn]):
        (message,) = read_messages([{"role": "assistant", "content": "x", "images": images}], "m")
        (picture,) = [part for part in message.parts if isinstance(part, Image)]
        assert (picture.media_type, picture.data) == ("image/png", data)


def test_a_call_that_langchain_has_among_the_items_of_a_response_is_one_call() -> None:
    call = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "f", "arguments": "{}"}
    answer = {
        "type": "ai",
        "data": {
            "content": [{"type": "text", "text": "x"}, call],
            "tool_calls": [{"name": "f", "args": {}, "id": "c1", "type": "tool_call"}],
        },
    }
    (message,) = read_messages([answer], "messages")
    assert message.text == "x\n[calls f({})]"


def test_a_call_of_ollama_keeps_its_place_in_the_answer() -> None:
    call = {"id": "a", "function": {"index": 1, "name": "f", "arguments": {"x": 1}}}
    asked = {"role": "assistant", "content": "x", "tool_calls": [call]}
    answer = {"role": "tool", "content": "y", "tool_name": "f", "tool_call_id": "a"}
    assert to_ollama(read_messages([asked, answer], "messages")) == [asked, answer]


def test_a_developer_of_langchain_goes_back_as_one() -> None:
    said = {"content": "x", "additional_kwargs": {"__openai_role__": "developer"}}
    message = {"type": "system", "data": said}
    assert to_langchain(read_messages([message], "messages")) == [message]
