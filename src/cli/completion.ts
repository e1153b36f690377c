/**
 * `stela completion <shell>`: prints a script with which a shell completes commands, flags and
 * values. The script is generated from the definitions of the commands, so it covers all of them.
 */
import { Argument, Command, type Option } from 'commander'

export const completion = new Command('completion')
  .description('Print a shell completion script.')
  .helpOption('--help', 'show this help')
  .addArgument(new Argument('<shell>', 'shell').choices(['bash', 'zsh', 'fish']))
  .addHelpText(
    'after',
    `
Examples:
  source <(stela completion bash)                                    in ~/.bashrc
  source <(stela completion zsh)                                     in ~/.zshrc, after compinit
  stela completion fish > ~/.config/fish/completions/stela.fish      run once
`,
  )
  .action((shell: 'bash' | 'zsh' | 'fish') => {
    process.stdout.write(completionScript(completion.parent!, shell))
  })

/** Completions at one position of a command line. */
interface Place {
  /**
   * The names of the command and its subcommands that precede the position, such as "token create".
   */
  readonly words: string
  readonly subcommands: readonly Named[]
  readonly flags: readonly Flag[]
  /** Allowed values of positional arguments. */
  readonly values: readonly string[]
}

interface Named {
  readonly name: string
  readonly says: string
}

interface Flag extends Named {
  readonly takesValue: boolean
  /** The allowed values; empty if any value is allowed. The shell then offers file names. */
  readonly values: readonly string[]
}

function completionScript(program: Command, shell: 'bash' | 'zsh' | 'fish'): string {
  const places = placesOf(program, '')
  switch (shell) {
    case 'bash':
      return bashScript(places)
    case 'zsh':
      // zsh can run bash completions.
      return `autoload -U +X bashcompinit && bashcompinit\n${bashScript(places)}`
    case 'fish':
      return fishScript(places)
  }
}

function placesOf(command: Command, words: string): Place[] {
  const help = command.createHelp()
  const { commands } = command
  const subcommands = commands.map((one) => ({
    name: one.name(),
    says: one.description(),
  }))
  const flags = help.visibleOptions(command).map(flagOf)
  const values = command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices)
  const below = commands.flatMap((one) => placesOf(one, `${words} ${one.name()}`.trim()))
  return [{ words, subcommands, flags, values }, ...below]
}

function flagOf({ long, description, required, optional, argChoices = [] }: Option): Flag {
  const takesValue = required || optional
  return { name: long!, says: description, takesValue, values: argChoices }
}

/**
 * The completion script of bash: a function that finds the command in the typed words and offers
 * its completions.
 */
function bashScript(places: readonly Place[]): string {
  const commandLines = places.flatMap(({ words, subcommands }) =>
    subcommands.map(({ name }) => quote(`${words} ${name}`.trim())),
  )
  const cases = places.map(({ words, subcommands, flags, values }) => {
    const names = [...subcommands, ...flags].map(({ name }) => name)
    return `    ${quote(words)}) offered=${quote([...names, ...values].join(' '))} ;;`
  })
  const valueCases = places.flatMap(({ words, flags }) =>
    flags
      .filter(({ takesValue }) => takesValue)
      .map(({ name, values }) =>
        values.length > 0
          ? `    ${quote(`${words} ${name}`)}) offered=${quote(values.join(' '))}; flag= ;;`
          : `    ${quote(`${words} ${name}`)}) return ;;`,
      ),
  )
  return `_stela() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}"
  local command='' offered='' flag=1 i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "\${command:+$command }\${COMP_WORDS[i]}" in
    ${commandLines.join(' | ')}) command="\${command:+$command }\${COMP_WORDS[i]}" ;;
    esac
  done
  case "$command $before" in
${valueCases.join('\n')}
  esac
  if [ -n "$flag" ]; then
    case "$command" in
${cases.join('\n')}
    esac
  fi
  COMPREPLY=($(compgen -W "$offered" -- "$word"))
}
complete -o default -F _stela stela
`
}

/**
 * The completion script of fish: one line per completion, with the condition under which it is
 * offered.
 */
function fishScript(places: readonly Place[]): string {
  const lines = places.flatMap(({ words, subcommands, flags, values }) => {
    const when = `complete -c stela -n ${quote(fishCondition(words, subcommands))}`
    return [
      ...subcommands.map(({ name, says }) => `${when} -f -a ${name} -d ${quote(says)}`),
      ...values.map((value) => `${when} -f -a ${value}`),
      ...flags.map(({ name, says, takesValue, values: choices }) => {
        const value = choices.length > 0 ? ` -x -a ${quote(choices.join(' '))}` : ' -r'
        return `${when} -l ${name.slice(2)}${takesValue ? value : ''} -d ${quote(says)}`
      }),
    ]
  })
  return lines.map((line) => `${line}\n`).join('')
}

function fishCondition(words: string, subcommands: readonly Named[]): string {
  if (words === '') return '__fish_use_subcommand'
  const seen = words.split(' ').map((word) => `__fish_seen_subcommand_from ${word}`)
  const below = subcommands.map(({ name }) => name).join(' ')
  const notBelow = below === '' ? [] : [`not __fish_seen_subcommand_from ${below}`]
  return [...seen, ...notBelow].join('; and ')
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
