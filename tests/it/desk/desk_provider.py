"""The provider's stand-in for agents that use the approval desk: desk_provider.py PORT [--log FILE].

It is the program that PLANWRIGHT_MOCK_PROVIDER names, with a model that follows the desk's instructions. These words in
the prompt start it:

  DESKPLAN   submits a plan with the tools of `planwright mcp`, waits, revises it when changes are requested, and reports
             its first task when it is approved
  PLANEXIT   leaves the plan mode of Claude Code with a plan, and with a changed one when the person wants changes
  PLANMODE   writes the plan to a file in the directory that the prompt of Gemini CLI names and leaves its plan mode;
             writes a changed plan and tries again when that is denied
"""
import importlib.util
import json
import os
import re
import sys

PLAN = "# Faster search\n\n1. Measure the search\n2. Build an index\n3. Write tests\n"
CHANGED = PLAN.replace("Measure the search", "Measure the search twice")

spec = importlib.util.spec_from_file_location("mock_provider", os.environ["PLANWRIGHT_MOCK_PROVIDER"])
mock = importlib.util.module_from_spec(spec)
sys.modules["mock_provider"] = mock
spec.loader.exec_module(mock)
answer_by_words = mock.decide
known = {}


def call(turn, tool, **arguments):
    name = next((name for name in turn.tools if name.endswith(tool)), None)
    if name is None:
        return mock.Reply(text=f"Mock reply: no tool {tool} among {', '.join(turn.tools)}.")
    return mock.Reply(calls=[mock.Call(name, arguments, f"call_{next(mock.call_numbers)}")])


def use_desk(turn, result):
    """What a model that follows the desk's instructions does after a result of one of its tools."""
    if result is None:
        return call(turn, "submit_plan", markdown=PLAN)
    said = result.replace('\\"', '"')
    status = re.search(r'"status":\s*"(\w+)"', said)
    status = status[1] if status else ""
    for name in ("ticket", "hash"):
        if found := re.search(rf'"{name}":\s*"([0-9a-f]+)"', said):
            known[name] = found[1]
    if nodes := re.search(r'"nodes":\s*\[\s*\{\s*"id":\s*"([^"]+)"', said):
        known["task"] = nodes[1]
    report = {"ticket": known.get("ticket", ""), "hash": known.get("hash", ""), "task": known.get("task", "")}
    if status == "pending" or (not status and nodes):
        return call(turn, "wait_for_decision", ticket=report["ticket"], seconds=20)
    if status == "changes":
        replies = [{"comment": int(number), "addressed": True, "words": "done"}
                   for number in re.findall(r'\{"id":\s*(\d+)', said)]
        return call(turn, "revise_plan", ticket=report["ticket"], markdown=CHANGED, replies=replies)
    if status == "approved":
        return call(turn, "report_progress", **report, state="started")
    if status == "recorded" and re.search(r'"done":\s*0', said):
        return call(turn, "report_progress", **report, state="done", evidence=["bench: 40 ms"])
    return mock.Reply(text=f"Mock reply: the desk says: {said[:300]}")


def exit_plan_mode(turn, result):
    """Claude Code: the plan is an argument of the call."""
    if result is not None and "wants changes" not in result:
        return mock.Reply(text=f"Mock reply: it answered: {result[:300]}")
    return call(turn, "ExitPlanMode", plan=PLAN if result is None else CHANGED)


def leave_plan_mode(turn, result):
    """Gemini CLI: a plan is a file, and leaving its plan mode names the file."""
    if result is None or "denied" in result.lower() or "wants changes" in result:
        text = PLAN if result is None else CHANGED
        path = os.path.join(known["plans"], "search.md")
        return call(turn, "write_file", file_path=path, content=text)
    if "exit_plan_mode" in turn.tools and "search.md" in result:
        return call(turn, "exit_plan_mode", plan_filename="search.md")
    return mock.Reply(text=f"Mock reply: it answered: {result[:300]}")


def decide(turn):
    if not turn.tools or turn.schema:
        return answer_by_words(turn)
    for word, act in (("DESKPLAN", use_desk), ("PLANEXIT", exit_plan_mode), ("PLANMODE", leave_plan_mode)):
        if word in turn.prompt:
            known["acting"] = word
            return act(turn, None)
        if known.get("acting") == word and turn.results:
            return act(turn, turn.results[-1])
    return answer_by_words(turn)


class NamespacedResponses(mock.Responses):
    """Codex offers the tools of MCP servers in namespaces; here they are called NAMESPACE/NAME."""

    def tools(self, body):
        yield from super().tools(body)
        for space in body.get("tools") or []:
            if space.get("type") == "namespace":
                for tool in space.get("tools") or []:
                    yield f"{space['name']}/{tool.get('name', '')}", tool.get("parameters") or {}

    def items(self, reply):
        for item in super().items(reply):
            space, slash, name = item.get("name", "").partition("/")
            yield {**item, "namespace": space, "name": name} if slash else item


class NotingHandler(mock.Handler):
    """Notes where Gemini CLI keeps its plans: its system prompt says it."""

    def answer(self, wire, body, size):
        if found := re.search(r"((?:\.\.)*/[^\s`\"'\\]*/plans)\b", json.dumps(body)):
            known["plans"] = found[1]
        super().answer(wire, body, size)


mock.decide = decide
mock.Responses = NamespacedResponses
mock.Handler = NotingHandler
mock.main()
