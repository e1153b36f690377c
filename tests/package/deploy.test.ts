/**
 * Compares the files in deploy/ with the server: every setting, port and path that they name must
 * exist.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { parseAllDocuments } from 'yaml'
import { defaultConfig } from '../../src/settings/config.ts'
import { serveOptions } from '../../src/settings/serve-options.ts'
import { startServer, temporaryFolder, type TestServer } from '../harness.ts'
import { readStages } from './bare-root.ts'
import { imageSources, root } from './install-package.ts'

const read = (path: string) => readFileSync(join(root, path), 'utf8')
const files = readdirSync(join(root, 'deploy')).map((name) => `deploy/${name}`)
const { version, scripts } = JSON.parse(read('package.json')) as {
  version: string
  scripts: Record<string, string>
}

/** Parses the documents of a YAML file. Throws for invalid YAML and for duplicate keys. */
function readYaml(path: string): unknown[] {
  return parseAllDocuments(read(path)).map((document) => {
    assert.deepEqual(document.errors, [])
    return document.toJS() as unknown
  })
}

describe('files in deploy/', () => {
  const variables = serveOptions().map((option) => option.envVar)
  const flags = serveOptions().map((option) => option.long!)
  let server: TestServer
  before(async () => {
    server = await startServer()
  })
  after(() => server.close())

  for (const file of files)
    test(`name existing settings: ${file}`, () => {
      for (const [name] of read(file).matchAll(/\bSTELA_[A-Z_]+/g))
        assert(variables.includes(name), name)
      for (const [, rest] of read(file).matchAll(/\bmain\.js serve(.*)$/gm))
        for (const [flag] of rest!.matchAll(/--[\w-]+/g)) assert(flags.includes(flag), flag)
    })

  test('request health checks from existing paths', async () => {
    const paths = files.flatMap((file) => read(file).match(/\/stargate\/[\w/]+/g) ?? [])
    assert(paths.length >= 4)
    for (const path of new Set(paths))
      assert.equal((await server.send(path, { method: 'GET' })).http, 200, path)
  })
})

describe('deploy/Dockerfile', () => {
  const stages = readStages(join(root, 'deploy/Dockerfile'))
  const [building, running] = stages as [(typeof stages)[0], (typeof stages)[0]]

  test('copies existing files that .dockerignore does not exclude', () => {
    const kept = read('deploy/Dockerfile.dockerignore').match(/(?<=^!).+$/gm)
    const copied = imageSources()
    for (const path of copied) assert(existsSync(join(root, path)), path)
    assert.deepEqual(copied.toSorted(), kept?.toSorted())
  })

  test('runs existing scripts', () => {
    const commands = building.filter(({ name }) => name === 'RUN').map(({ text }) => text)
    const named = Array.from(
      commands.join('\n').matchAll(/npm run (\S+)/g),
      ([, name]) => name!,
    )
    assert.deepEqual(named, ['build'])
    for (const name of named) assert(name in scripts)
  })

  test('uses a Node version that the package supports, and not the root user', () => {
    const [first] = running
    assert.match(first!.text, /^node:24-\w+-slim$/)
    assert(running.some(({ name, text }) => name === 'USER' && text === '1000:1000'))
  })

  test('exposes the ports on which the server listens', () => {
    const { text } = running.find(({ name }) => name === 'EXPOSE')!
    assert.equal(text, `${defaultConfig.port} ${defaultConfig.port + 1}`)
  })
})

test('deploy/compose.yaml has a read-only root and a volume for the data', () => {
  const [file] = readYaml('deploy/compose.yaml') as [
    {
      services: { stela: Record<string, unknown> & { build: Record<string, string> } }
      volumes: object
    },
  ]
  const { stela } = file.services
  assert.equal(stela['read_only'], true)
  assert.deepEqual(stela['volumes'], ['stela-data:/data'])
  assert.deepEqual(Object.keys(file.volumes), ['stela-data'])
  assert.deepEqual(stela['ports'], [
    `127.0.0.1:${defaultConfig.port}:${defaultConfig.port}`,
  ])
  assert(
    existsSync(join(root, 'deploy', stela.build['context']!, stela.build['dockerfile']!)),
  )
})

interface StatefulSet {
  readonly metadata: { readonly name: string }
  readonly spec: {
    readonly serviceName: string
    readonly replicas: number
    readonly selector: { readonly matchLabels: object }
    readonly template: {
      readonly metadata: { readonly labels: object }
      readonly spec: {
        readonly securityContext: {
          readonly runAsNonRoot: boolean
          readonly runAsUser: number
        }
        readonly containers: readonly [Container]
        readonly volumes: readonly { readonly name: string }[]
      }
    }
    readonly volumeClaimTemplates: readonly {
      readonly metadata: { readonly name: string }
    }[]
  }
}

interface Container {
  readonly image: string
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[]
  readonly securityContext: { readonly readOnlyRootFilesystem: boolean }
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[]
  readonly [probe: `${string}Probe`]: { readonly httpGet: { readonly port: string } }
}

test('the objects of deploy/kubernetes.yaml refer to each other correctly', () => {
  const [service, set] = readYaml('deploy/kubernetes.yaml') as [
    {
      readonly metadata: { readonly name: string }
      readonly spec: {
        readonly selector: object
        readonly ports: readonly { readonly port: number; readonly targetPort: string }[]
      }
    },
    StatefulSet,
  ]
  const { spec } = set
  const { securityContext, containers, volumes } = spec.template.spec
  const [container] = containers
  assert.equal(spec.serviceName, service.metadata.name)
  assert.equal(spec.replicas, 1)
  assert.deepEqual(spec.selector.matchLabels, spec.template.metadata.labels)
  assert.deepEqual(service.spec.selector, spec.template.metadata.labels)

  const ports = new Map(container.ports.map((port) => [port.name, port.containerPort]))
  for (const { port, targetPort } of service.spec.ports)
    assert.equal(ports.get(targetPort), port)
  assert.equal(ports.get('data'), defaultConfig.port)
  assert.equal(ports.get('management'), defaultConfig.port + 1)
  for (const probe of ['startupProbe', 'readinessProbe', 'livenessProbe'] as const)
    assert(ports.has(container[probe]!.httpGet.port), probe)

  const mounted = container.volumeMounts.map(({ name }) => name).toSorted()
  const claimed = spec.volumeClaimTemplates.map(({ metadata }) => metadata.name)
  assert.deepEqual(mounted, [...claimed, ...volumes.map(({ name }) => name)].toSorted())
  assert(container.volumeMounts.some(({ mountPath }) => mountPath === '/data'))
  assert(container.securityContext.readOnlyRootFilesystem)
  assert(securityContext.runAsNonRoot)
  assert.equal(securityContext.runAsUser, 1000)
  assert.equal(container.image, `stela:${version}`)
})

describe('deploy/stela.service', () => {
  test('consists of sections and settings only', () => {
    for (const line of read('deploy/stela.service').split('\n'))
      assert.match(line, /^(?:#.*|\[(?:Unit|Service|Install)\]|[A-Z]\w+=.*|)$/)
  })

  const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0
  test(
    'is accepted by systemd',
    { skip: !hasSystemd && 'systemd is not here' },
    async () => {
      const folder = await temporaryFolder()
      const unit = join(folder, 'stela.service')
      // systemd checks that the path of Node exists, so the test replaces it with the path on this
      // machine.
      writeFileSync(
        unit,
        read('deploy/stela.service').replace('/usr/bin/node', process.execPath),
      )
      const { status, stderr } = spawnSync('systemd-analyze', ['verify', unit])
      await rm(folder, { recursive: true })
      assert.equal(String(stderr), '')
      assert.equal(status, 0)
    },
  )
})
