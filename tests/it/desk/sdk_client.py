"""A client of the approval desk, made with the official SDK of the Model Context Protocol (PyPI `mcp`, 2.0 or later).

    sdk_client.py MODE stdio COMMAND ARGUMENT...
    sdk_client.py MODE http URL TOKEN

MODE is `legacy` (the handshake of protocol versions until 2025) or `auto` (the newest that both sides know). It submits a
plan, waits, revises it when the person wants changes, and reports a task when it is approved. Each step is a line of JSON on
standard output. It would say yes to any question of the server: there must be none.
"""
import asyncio
import importlib.metadata
import json
import os
import sys

from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ElicitResult, Implementation

PLAN = "# Faster search\n\n1. Measure the search\n2. Build an index\n3. Write tests\n"
asked = []


def say(step, **fields):
    print(json.dumps({"step": step, **fields}), flush=True)


async def say_yes(_context, question):
    asked.append(str(question))
    return ElicitResult(action="accept", content={"approve": True})


async def call(client, tool, **arguments):
    told = 0

    async def progress(*_):
        nonlocal told
        told += 1

    result = await client.call_tool(tool, arguments, progress_callback=progress)
    answer = result.structured_content
    if json.loads(result.content[0].text) != answer:
        raise SystemExit("the text of a result is not its structure")
    say(tool, error=bool(result.is_error), progress=told, answer=answer)
    return answer


async def decision(client, ticket):
    while True:
        answer = await call(client, "wait_for_decision", ticket=ticket, seconds=5)
        if answer["status"] != "pending":
            return answer


async def use_desk(client):
    tools = await client.list_tools()
    say("tools", names=[tool.name for tool in tools.tools], protocol=client.protocol_version)
    submitted = await call(client, "submit_plan", markdown=PLAN)
    ticket = submitted["ticket"]
    await call(client, "wait_for_decision", ticket=ticket, seconds=0)
    answer = await decision(client, ticket)
    while answer["status"] == "changes":
        changed = PLAN.replace("Measure the search", "Measure the search twice")
        replies = [{"comment": comment["id"], "addressed": True, "words": "done"} for comment in answer["comments"]]
        await call(client, "revise_plan", ticket=ticket, markdown=changed, replies=replies)
        answer = await decision(client, ticket)
    if answer["status"] == "approved":
        report = {"ticket": ticket, "hash": answer["hash"], "task": submitted["nodes"][0]["id"]}
        await call(client, "report_progress", **{**report, "hash": submitted["hash"]}, state="done", evidence=["none"])
        await call(client, "report_progress", **report, state="started")
        await call(client, "report_progress", **report, state="done", evidence=["bench: 40 ms"])
    say("end", asked=asked)


async def main(mode, transport, *rest):
    who = Implementation(name="sdk-client", version=importlib.metadata.version("mcp"))
    if transport == "stdio":
        server = StdioServerParameters(command=rest[0], args=list(rest[1:]), env=dict(os.environ))
        async with Client(server, mode=mode, client_info=who, elicitation_callback=say_yes) as client:
            await use_desk(client)
        return
    import httpx2

    url, token = rest
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60) as web:
        server = streamable_http_client(url, http_client=web)
        async with Client(server, mode=mode, client_info=who, elicitation_callback=say_yes) as client:
            await use_desk(client)


asyncio.run(main(*sys.argv[1:]))
