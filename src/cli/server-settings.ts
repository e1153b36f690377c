/** Server settings as options of the commands that start a server. */
import { InvalidArgumentError, type Command } from 'commander'
import { readConfig, type Config } from '../settings/config.ts'
import { secretSettings, serveOptions } from '../settings/serve-options.ts'

/** Adds an option for each server setting. `isShown`: whether --help lists the options. */
export function addServerSettings(command: Command, isShown: boolean): Command {
  for (const option of serveOptions()) command.addOption(option.hideHelp(!isShown))
  return command.configureOutput({
    outputError: (text, write) => write(isAboutSecrets(text) ? withoutValue(text) : text),
  })
}

/**
 * Whether a message names a secret setting. The value of a secret setting is removed from messages.
 */
function isAboutSecrets(text: string): boolean {
  return secretSettings.some((name) => text.includes(`--${name}`))
}

function withoutValue(text: string): string {
  return text
    .replace(
      /value '[^]*' from env '(STELA_\w+)' is invalid/,
      "value from env '$1' is invalid",
    )
    .replace(/argument '[^]*' is invalid/, 'argument is invalid')
}

/** Reads the settings. Exits with an error when settings exclude each other. */
export function readServerSettings(
  command: Command,
  values: Record<string, unknown>,
): Config {
  try {
    return readConfig(values, (name) => isGiven(command, name))
  } catch (error) {
    if (error instanceof InvalidArgumentError) command.error(`error: ${error.message}`)
    throw error
  }
}

/** The flags of the settings that are given on the command line. */
export function namedFlags(command: Command): string[] {
  return serveOptions()
    .filter((option) => command.getOptionValueSource(option.attributeName()) === 'cli')
    .map((option) => option.long!)
}

/** Whether a setting is given in the environment or on the command line. */
function isGiven(command: Command, name: string): boolean {
  const option = command.options.find((candidate) => candidate.name() === name)
  const source = command.getOptionValueSource(option!.attributeName())
  return source !== undefined && source !== 'default'
}
