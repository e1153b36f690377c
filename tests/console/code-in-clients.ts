/**
 * Runs the Python and Java code that the console shows, with clients from their registries. Part of
 * `npm run test:recipes`: it needs a network, Python and Maven.
 */
import assert from 'node:assert/strict'
import { mkdtemp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeJava } from '../../src/console/code/java.ts'
import { writePython } from '../../src/console/code/python.ts'
import type { CodeRequest } from '../../src/console/code/code-request.ts'
import { parseStored } from '../../src/json/parse.ts'
import type { JsonObject, Value } from '../../src/json/value.ts'
import { startStela } from '../../src/start-stela.ts'
import { findPort } from '../cassandra/ports.ts'
import { readRecipe } from '../recipes/page.ts'
import { cases as mostCases, left, rerankCase } from './code-cases.ts'
import { runProgram, separator, type Ran } from './code-runs.ts'

/** All cases. The rerank case is at a position where films exist and none is deleted yet. */
const cases = mostCases.toSpliced(8, 0, rerankCase)

type Run = (folder: string, texts: readonly string[], token: string) => Promise<Ran>

/**
 * Runs the code in the Python and the Java client. Returns a description of the failure, if any.
 */
export async function runCodeInClients(): Promise<string | undefined> {
  try {
    await runAll('astrapy', writePython, runPython)
    await runAll('java', writeJava, runJava)
    return undefined
  } catch (error) {
    return String(error)
  }
}

async function runAll(page: string, write: (request: CodeRequest) => string, run: Run) {
  const folder = await mkdtemp(join(tmpdir(), 'stela-code-'))
  const port = await findPort(['127.0.0.1'])
  await using stela = await startStela({ settings: { 'admin-port': port } })
  try {
    await install(page, folder)
    const second = `${stela.url}/databases/${await createDatabase(port, stela.token)}`
    for (const url of [stela.url, second]) {
      const texts = cases.map(({ request }) => write({ ...request, url }))
      const { code, out, err } = await run(folder, texts, stela.token)
      assert.equal(code, 0, out + err)
      const printed = out.split(separator)
      cases.forEach(({ request, prints }, position) => {
        for (const pattern of prints)
          assert.match(
            printed[position] ?? '',
            pattern,
            `${page}: ${request.command} ${request.body}`,
          )
      })
      for (const [path, command, expected] of left)
        assert.deepEqual(
          await ask(`${url}/v1/default_keyspace${path}`, command, stela.token),
          parseStored(expected),
          page,
        )
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/**
 * Creates a database. Its address is a path below the address of the server, which not every client
 * expects.
 */
async function createDatabase(port: number, token: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/v2/databases`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ name: 'second', keyspace: 'default_keyspace' }),
  })
  assert.equal(response.status, 201)
  return response.headers.get('location')!
}

/** Installs the client as its documentation page says. */
async function install(page: string, folder: string): Promise<void> {
  const text = await readFile(
    new URL(`../../docs/clients/${page}.md`, import.meta.url),
    'utf8',
  )
  const { install, files } = readRecipe(text)
  for (const [file, content] of Object.entries(files))
    await writeFile(join(folder, file), content)
  const { code, out, err } = await runProgram('bash', ['-e', '-c', install!], folder, '')
  assert.equal(code, 0, out + err)
}

async function runPython(
  folder: string,
  texts: readonly string[],
  token: string,
): Promise<Ran> {
  const files = texts.map((_, position) => `example_${position}.py`)
  await Promise.all(
    texts.map((text, position) => writeFile(join(folder, files[position]!), text)),
  )
  const all = files.map((file) => `runpy.run_path("${file}")\nprint("\\n=== next ===")\n`)
  await writeFile(join(folder, 'all.py'), `import runpy\n\n${all.join('')}`)
  return runProgram('.venv/bin/python', ['all.py'], folder, token)
}

/** Runs the programs. All define the same class, so each gets its own package. */
async function runJava(
  folder: string,
  texts: readonly string[],
  token: string,
): Promise<Ran> {
  const packages = texts.map((_, position) => `example${position}`)
  const files = await Promise.all(
    texts.map(async (text, position) => {
      const name = packages[position]!
      await mkdir(join(folder, 'code', name), { recursive: true })
      const file = join('code', name, 'Example.java')
      await writeFile(join(folder, file), `package ${name};\n${text}`)
      return file
    }),
  )
  const calls = packages.map(
    (name) =>
      `    ${name}.Example.main(args);\n    System.out.println("\\n=== next ===");\n`,
  )
  await writeFile(
    join(folder, 'code/All.java'),
    `public class All {
  public static void main(String[] args) throws Exception {
${calls.join('')}    System.exit(0);
  }
}
`,
  )
  const classes = 'target/dependency/*'
  const compiled = await runProgram(
    'javac',
    ['-cp', classes, '-d', 'target/code', 'code/All.java', ...files],
    folder,
    '',
  )
  if (compiled.code !== 0) return compiled
  return runProgram('java', ['-cp', `target/code:${classes}`, 'All'], folder, token)
}

async function ask(url: string, command: unknown, token: string): Promise<Value> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { Token: token, 'Content-Type': 'application/json' },
    body: JSON.stringify(command),
  })
  const data = (parseStored(await response.text()) as JsonObject).get('data') as JsonObject
  return data.get('documents')!
}
