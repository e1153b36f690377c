/**
 * `npm run test:recipes`, optionally with names: follows each page of docs/clients in an empty
 * folder against a separate server, and docs/guides/test-an-application.md. Clients are installed
 * from their registries. So this command requires a network, Python and Maven in addition to npm,
 * and `npm test` does not include it. The name `console` runs the code that the console generates
 * for Python and Java, `deploy` checks the files in deploy/, and `mcp-tools` calls every MCP tool
 * with the official Python SDK.
 */
import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startStela } from '../../src/start-stela.ts'
import { findPort } from '../cassandra/ports.ts'
import { runCodeInClients } from '../console/code-in-clients.ts'
import { checkDeployFiles } from './deploy-files.ts'
import { followTestSuites } from './in-test-suites.ts'
import { callToolsInPython } from './mcp-tools.ts'
import { readClients, readRecipe, type Client } from './page.ts'
import { shell } from './shell.ts'

const pages = new URL('../../docs/clients/', import.meta.url)
/** The account for pages whose client authenticates with a user name and a password. */
const account = { user: 'ann', password: 'secret' }

/** Name for docs/guides/test-an-application.md. */
const testSuites = 'test-an-application'

/** Name that selects the code that the console generates. */
const codeOfConsole = 'console'

/** Name that selects the MCP tools. */
const mcpTools = 'mcp-tools'

/** Name that selects the Dockerfile, the manifests and the other files in deploy/. */
const deployFiles = 'deploy'

const clients = readClients(read('README.md'))
const asked = process.argv.slice(2)
const others = [testSuites, codeOfConsole, mcpTools, deployFiles]
const known = [...clients.map(({ name }) => name), ...others]
const unknown = asked.filter((name) => !known.includes(name))
if (unknown.length > 0) {
  console.log(`There is no recipe for ${unknown.join(', ')}.`)
  process.exit(1)
}
for (const client of clients) if (isAsked(client.name)) await report(client)
if (isAsked(testSuites))
  reportRun(testSuites, await followTestSuites(read(`../guides/${testSuites}.md`)))
if (isAsked(codeOfConsole)) reportRun(codeOfConsole, await runCodeInClients())
if (isAsked(mcpTools)) {
  const { version } = clients.find((client) => client.package === 'mcp')!
  reportRun(mcpTools, await callToolsInPython(version))
}
if (isAsked(deployFiles)) reportRun(deployFiles, await checkDeployFiles())

function isAsked(name: string): boolean {
  return asked.length === 0 || asked.includes(name)
}

function read(page: string): string {
  return readFileSync(new URL(page, pages), 'utf8')
}

async function report(client: Client): Promise<void> {
  const start = performance.now()
  const folder = await mkdtemp(join(tmpdir(), 'stela-recipe-'))
  const problem = await follow(client, folder).catch((error: unknown) => String(error))
  const version = installedVersion(client.package, folder) ?? 'not installed'
  const seconds = ((performance.now() - start) / 1000).toFixed(1)
  const wrong =
    problem ??
    ([version, 'any'].includes(client.version)
      ? undefined
      : `README.md lists ${client.version}\n`)
  const result = wrong === undefined ? 'passed' : 'failed'
  console.log(`${client.name}  ${client.package} ${version}  ${result}  ${seconds} s`)
  if (wrong !== undefined) {
    console.log(wrong)
    process.exitCode = 1
  }
  await rm(folder, { recursive: true, force: true })
}

function reportRun(name: string, problem: string | undefined): void {
  console.log(`${name}  ${problem === undefined ? 'passed' : `failed\n${problem}`}`)
  if (problem !== undefined) process.exitCode = 1
}

/** Follows the page of a client. Returns a description of the failure, if any. */
async function follow({ name }: Client, folder: string): Promise<string | undefined> {
  const recipe = readRecipe(read(`${name}.md`))
  for (const [file, content] of Object.entries(recipe.files))
    await writeFile(join(folder, file), content)
  for (const script of [recipe.install, recipe.certificate]) {
    const done = await shell(script ?? '', folder)
    if (done.code !== 0) return done.out + done.err
  }
  const hasCertificate = recipe.certificate !== undefined
  const adminPort = await findPort(['127.0.0.1'])
  await using stela = await startStela({
    settings: {
      users: `${account.user}:${account.password}`,
      ...(hasCertificate && {
        'tls-cert': join(folder, 'cert.pem'),
        'tls-key': join(folder, 'key.pem'),
        'admin-port': adminPort,
      }),
    },
  })
  const shown = await shell(
    hasCertificate ? withOwnHostsFile(recipe.run) : recipe.run,
    folder,
    {
      STELA_URL: stela.url,
      STELA_PORT: new URL(stela.url).port,
      STELA_ADMIN_URL: `https://127.0.0.1:${adminPort}`,
      STELA_TOKEN: stela.token,
      STELA_USER: account.user,
      STELA_PASSWORD: account.password,
    },
  )
  if (shown.code === 0 && shown.out.trim() === recipe.output.trim()) return undefined
  return `It printed:\n${shown.out}${shown.err}`
}

/**
 * Runs the script with a private copy of /etc/hosts, so that the script can change it without
 * privileges.
 */
function withOwnHostsFile(script: string): string {
  return `cp /etc/hosts hosts
unshare --map-root-user --mount bash -e -o pipefail <<'END_OF_SCRIPT'
mount --bind hosts /etc/hosts
${script}
END_OF_SCRIPT`
}

/** The version that the installed package reports. */
function installedVersion(packageName: string, folder: string): string | undefined {
  if (packageName === 'curl')
    return /[\d.]+/.exec(execFileSync('curl', ['--version'], { encoding: 'utf8' }))?.[0]
  const manifest = join('node_modules', packageName, 'package.json')
  const [found] = globSync(manifest, { cwd: folder })
  if (found !== undefined) {
    const { version } = JSON.parse(readFileSync(join(folder, found), 'utf8')) as {
      version: string
    }
    return version
  }
  const marks = [
    `.venv/lib/*/site-packages/${packageName.replaceAll('-', '_')}-*.dist-info`,
    `target/dependency/${packageName.split(':').at(-1)!}-*.jar`,
  ]
  const [mark] = globSync(marks, { cwd: folder })
  return mark === undefined ? undefined : /-(\d[^/]*)\.(?:dist-info|jar)$/.exec(mark)?.[1]
}
