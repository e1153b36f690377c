/**
 * Follows a guide as its reader does: saves its files and runs its commands, from top to bottom in
 * one shell, and compares their output with the block that follows.
 *
 * The words after the language of a block state its purpose: `sh` alone is run, `json` and `text`
 * alone are the output of the `sh` block before them, and a file name is the file to save the block
 * as. `by-hand` marks commands that the test replaces, such as starting the server.
 */
import assert from 'node:assert/strict'
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { shell } from '../recipes/shell.ts'
import { program } from '../server-environment.ts'
import { anonymous, assertAlike } from './compare-replies.ts'

const nodeModules = fileURLToPath(new URL('../../node_modules', import.meta.url))

interface Step {
  readonly script: string
  readonly output?: { readonly kind: 'json' | 'text'; readonly text: string }
}

interface Guide {
  readonly files: Readonly<Record<string, string>>
  readonly steps: readonly Step[]
}

/** Parses the page of a guide. Throws for a block that would not be run, saved or compared. */
export function readGuide(page: string): Guide {
  const files: Record<string, string> = {}
  const steps: Step[] = []
  let last = ''
  for (const [, language, role = '', text] of page.matchAll(
    /^```(\w+) ?(\S*)\n([^]*?)^```$/gm,
  )) {
    const isOutput = language === 'json' || language === 'text'
    if (role === '' && language === 'sh') steps.push({ script: text! })
    else if (role === '' && isOutput && last === 'sh ')
      steps.push({ ...steps.pop()!, output: { kind: language, text: text! } })
    else if (role.includes('.')) files[role] = text!
    else assert.equal(role, 'by-hand', `nothing runs this block: ${text!}`)
    last = `${language!} ${role}`
  }
  return { files, steps }
}

/** Runs the commands of a guide in a folder, with environment variables that name a server. */
export async function followGuide(
  page: string,
  folder: string,
  variables: Readonly<Record<string, string>>,
): Promise<void> {
  const { files, steps } = readGuide(page)
  assert(steps.length > 0, 'the guide has nothing to run')
  await symlink(nodeModules, join(folder, 'node_modules'))
  for (const [name, text] of Object.entries(files))
    await writeFile(join(folder, name), text)
  const programs = join(folder, 'bin')
  await mkdir(programs)
  const flags = '--disable-warning=ExperimentalWarning'
  await writeFile(
    join(programs, 'stela'),
    `#!/bin/sh\nexec '${process.execPath}' ${flags} '${program}' "$@"\n`,
  )
  await chmod(join(programs, 'stela'), 0o755)
  const paths = [programs, dirname(process.execPath), process.env['PATH']]
  // One shell for all steps, because later steps use variables of earlier steps.
  const scripts = steps.map(({ script }) => `${script}echo '${endOfStep}' $?\n`)
  const { out } = await shell(`set +e\nexec 2>&1\n${scripts.join('')}`, folder, {
    PATH: paths.join(':'),
    ...variables,
  })
  const outputs = [...out.matchAll(new RegExp(`([^]*?)${endOfStep} (\\d+)\n`, 'g'))]
  assert.equal(outputs.length, steps.length, `the shell ended early: ${out}`)
  for (const [i, { script, output }] of steps.entries()) {
    const [, printed, code] = outputs[i]!
    if (output === undefined) assert.equal(code, '0', `${script}${printed!}`)
    else if (output.kind === 'json')
      assertAlike(anonymous(printed!), anonymous(output.text))
    else assert.equal(withoutTimes(printed!), withoutTimes(output.text), script)
  }
}

const endOfStep = '--- end of step ---'

/** Output of commands without times, rates, sizes and checksums, which differ between runs. */
function withoutTimes(text: string): string {
  return text
    .trim()
    .replace(/\d{4}-\d\d-\d\dT[\d:.-]+Z/g, '(time)')
    .replace(/\d+\.\d s\b/g, '(seconds)')
    .replace(/\d+ (?=(?:documents|rows) a second)/g, '(rate) ')
    .replace(/\d+(?:\.\d)? (?:bytes|KB|MB)\b/g, '(size)')
    .replace(/\b[0-9a-f]{16}\b/g, '(checksum)')
}
