/** Calls every MCP tool with the official Python SDK (mcp_tools.py in this folder). */
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startStela } from '../../src/start-stela.ts'
import { shell } from './shell.ts'

const script = fileURLToPath(new URL('mcp_tools.py', import.meta.url))
const program = fileURLToPath(new URL('../../src/main.ts', import.meta.url))

/** Calls all tools. Returns a description of the failure, if any. */
export async function callToolsInPython(version: string): Promise<string | undefined> {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'stela-mcp-'))
  await using stela = await startStela()
  const server = `'${process.execPath}' --disable-warning=ExperimentalWarning '${program}'`
  const steps = [
    `python3 -m venv .venv\n.venv/bin/pip install mcp==${version}`,
    `.venv/bin/python '${script}' http`,
    `.venv/bin/python '${script}' stdio ${server}`,
  ]
  for (const step of steps) {
    const variables = { STELA_URL: stela.url, STELA_TOKEN: stela.token }
    const { code, out, err } = await shell(step, folder.path, variables)
    if (code !== 0) return `${step}\n${out}${err}`
  }
  return undefined
}
