/** The scripts of `stela completion`, run by the installed shells. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { serveOptions } from '../../src/settings/serve-options.ts'
import { runStela } from './run-stela.ts'

async function scriptFor(shell: string): Promise<string> {
  const { code, out, err } = await runStela(['completion', shell])
  assert.equal(code, 0, err)
  return String(out)
}

describe('the script for bash', () => {
  let script: string
  before(async () => {
    script = await scriptFor('bash')
  })

  /** Completions for a command line whose last word is being typed. */
  function offered(...words: string[]): string[] {
    const line = ['stela', ...words].map((word) => `'${word}'`).join(' ')
    const program = `${script}
      COMP_WORDS=(${line}) COMP_CWORD=${words.length}
      _stela
      printf '%s\\n' "\${COMPREPLY[@]}"`
    const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', program], {
      encoding: 'utf8',
    })
    assert.equal(stderr, '')
    return stdout.split('\n').filter((word) => word !== '')
  }

  test('offers commands as the first word', () => {
    const commands = ['backup', 'completion', 'demo', 'serve', 'token']
    const first = offered('')
    for (const command of commands) assert(first.includes(command), command)
    assert.deepEqual(offered('se'), ['serve'])
  })

  test('offers all flags of a command after the command', () => {
    const flags = offered('serve', '--')
    const known = serveOptions().map((option) => option.long!)
    assert.deepEqual(flags.toSorted(), [...known, '--help'].toSorted())
    assert.deepEqual(offered('demo', '--p'), ['--port'])
  })

  test('offers the values of a flag after the flag', () => {
    assert.deepEqual(offered('serve', '--durability', ''), ['full', 'relaxed'])
    assert.deepEqual(offered('serve', '--port', '9000', '--log-level', 'de'), ['debug'])
    assert.deepEqual(offered('serve', '--data', ''), [])
  })

  test('offers subcommands after their command', () => {
    assert.deepEqual(offered('token', 'cr'), ['create'])
    assert(offered('token', 'create', '--').includes('--role'))
    assert(!offered('token', 'create', '').includes('list'))
    assert.deepEqual(offered('completion', 'f'), ['fish'])
  })

  test('registers a completion function for stela when sourced as documented', () => {
    const program = `source <(cat <<'END'\n${script}END\n)\ncomplete -p stela`
    const { stdout } = spawnSync('bash', ['--norc', '-c', program], { encoding: 'utf8' })
    assert.match(stdout, /-F _stela stela/)
  })
})

/** Arguments with which each shell loads the script and prints completions of a command line. */
const asks = {
  zsh: (file: string, words: readonly string[]) => [
    ...['-f', '-c'],
    `compdef() { }; source ${file}; emulate sh
      COMP_WORDS=(stela ${words.map((word) => `'${word}'`).join(' ')})
      COMP_CWORD=${words.length}
      _stela
      printf '%s\\n' "\${COMPREPLY[@]}"`,
  ],
  fish: (file: string, words: readonly string[]) => [
    ...['--no-config', '-c'],
    `source ${file}; complete -C 'stela ${words.join(' ')}' | string replace -r '\\t.*' ''`,
  ],
}

for (const shell of ['zsh', 'fish'] as const)
  test(`${shell} completes commands, flags and their values, if the shell is installed`, async () => {
    const script = await scriptFor(shell)
    for (const { long } of serveOptions())
      assert(script.includes(shell === 'fish' ? ` -l ${long!.slice(2)} ` : long!), long)
    if (spawnSync(shell, ['--version']).error !== undefined) return
    await using folder = await mkdtempDisposable(join(tmpdir(), 'stela-'))
    const file = join(folder.path, 'script')
    writeFileSync(file, script)
    const offered = (...words: string[]) => {
      const run = spawnSync(shell, asks[shell](file, words), { encoding: 'utf8' })
      assert.equal(run.stderr, '')
      // In interactive use, zsh drops completions that do not start with the typed word.
      const begins = (word: string) => word !== '' && word.startsWith(words.at(-1)!)
      return run.stdout.split('\n').filter(begins)
    }
    assert.deepEqual(offered('se'), ['serve'])
    assert.deepEqual(offered('serve', '--durab'), ['--durability'])
    assert.deepEqual(offered('serve', '--durability', ''), ['full', 'relaxed'])
    assert.deepEqual(offered('token', 'cr'), ['create'])
  })
