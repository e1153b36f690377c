"""Calls every tool with the official Python SDK, over HTTP and over standard input and output."""

import asyncio
import os
import sys

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult

SIZE = 280_000
COUNT = 20


async def main(transport: str, *command: str) -> None:
    url = os.environ["STELA_URL"]
    token = os.environ["STELA_TOKEN"]
    keyspace = f"by_{transport}"
    if transport == "http":
        async with httpx2.AsyncClient(headers={"Token": token}, timeout=60) as http:
            server = streamable_http_client(f"{url}/v1/mcp", http_client=http)
            async with Client(server) as client:
                await call_all(client, keyspace, transport)
    else:
        arguments = [*command[1:], "mcp", "--stdio", "--url", url]
        server = StdioServerParameters(command=command[0], args=arguments, env={"STELA_TOKEN": token})
        async with Client(server) as client:
            await call_all(client, keyspace, transport)


async def call_all(client: Client, keyspace: str, transport: str) -> None:
    called: set[str] = set()

    async def call(tool: str, /, **arguments: object) -> CallToolResult:
        called.add(tool)
        result = await client.call_tool(tool, arguments)
        assert {"is_error", "meta"} <= result.model_fields_set, (tool, result.model_fields_set)
        return result

    async def ok(tool: str, /, **arguments: object) -> CallToolResult:
        result = await call(tool, **arguments)
        assert result.is_error is False, (tool, result)
        return result

    documents = {"keyspace": keyspace, "collection": "notes"}
    rows = {"keyspace": keyspace, "table": "films"}
    await ok("createKeyspace", name=keyspace)
    await ok("findKeyspaces")
    await ok("findEmbeddingProviders")
    await ok("findRerankingProviders")
    vector = {"dimension": 2, "metric": "cosine"}
    await ok("createCollection", **documents, options={"vector": vector, "indexing": {"deny": ["text"]}})
    await ok("findCollections", keyspace=keyspace)
    await ok("insertOne", **documents, document={"_id": 1, "$vector": [1, 0], "$lexical": "ant"})
    inserted = await ok("insertMany", **documents, documents=[{"_id": n, "n": n} for n in range(2, 6)])
    assert inserted.meta["status"]["insertedIds"] == [2, 3, 4, 5], inserted
    found = await ok("find", **documents, sort={"$vector": [1, 0]})
    assert [one["_id"] for one in found.structured_content["documents"]] == [1], found
    await ok("findOne", **documents, filter={"_id": 2})
    one = {"filter": {"_id": 2}}
    update = {"update": {"$set": {"a": 1}}}
    await ok("updateOne", **documents, **one, **update)
    await ok("updateMany", **documents, filter={}, **update)
    await ok("findOneAndUpdate", **documents, **one, **update)
    await ok("findOneAndReplace", **documents, **one, replacement={"b": 1})
    await ok("findOneAndDelete", **documents, **one)
    await ok("deleteOne", **documents, filter={"_id": 3})
    await ok("countDocuments", **documents, filter={})
    await ok("estimatedDocumentCount", **documents)
    refused = await call("findAndRerank", **documents, sort={"$hybrid": "ant"})
    assert refused.is_error and refused.structured_content["errors"], refused
    await ok("deleteMany", **documents, filter={})
    await large_results(ok, documents, transport)
    await ok("deleteCollection", keyspace=keyspace, collection="notes")

    columns = {"id": "int", "title": "text", "n": "int", "v": {"type": "vector", "dimension": 2}}
    definition = {"columns": columns, "primaryKey": "id"}
    await ok("createTable", **rows, definition=definition)
    await ok("alterTable", **rows, operation={"add": {"columns": {"m": "int"}}})
    await ok("createIndex", **rows, indexName="films_n", definition={"column": "n"})
    await ok("createTextIndex", **rows, indexName="films_title", definition={"column": "title"})
    await ok("createVectorIndex", **rows, indexName="films_v", definition={"column": "v"})
    await ok("listIndexes", **rows)
    await ok("listTables", keyspace=keyspace)
    await ok("dropIndex", keyspace=keyspace, name="films_n")
    await ok("dropTable", **rows)
    await ok("createType", keyspace=keyspace, name="place", definition={"fields": {"city": "text"}})
    await ok("alterType", keyspace=keyspace, name="place", add={"fields": {"code": "int"}})
    await ok("listTypes", keyspace=keyspace)
    await ok("dropType", keyspace=keyspace, name="place")
    await ok("dropKeyspace", name=keyspace)

    names = {tool.name for tool in (await client.list_tools()).tools}
    assert names == called, names ^ called
    for name in sorted(names):
        failed = await call(name, noSuchArgument=1)
        assert failed.is_error is True, (name, failed)
    print(f"{transport}: {len(names)} tools, {COUNT} documents of {SIZE} characters")


async def large_results(ok, documents: dict[str, str], transport: str) -> None:
    for n in range(COUNT):
        await ok("insertOne", **documents, document={"_id": n, "text": "x" * SIZE})
    found: list[int] = []
    state: str | None = None
    while True:
        options = {} if state is None else {"pageState": state}
        result = await ok("find", **documents, options=options)
        found += [one["_id"] for one in result.structured_content["documents"]]
        assert all(len(one["text"]) == SIZE for one in result.structured_content["documents"])
        state = result.structured_content.get("nextPageState")
        if state is None:
            break
    assert sorted(found) == list(range(COUNT)), (transport, found)


asyncio.run(main(*sys.argv[1:]))
