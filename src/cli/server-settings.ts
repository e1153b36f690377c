/** The settings of a server, as options of commands that start one. */
import { InvalidArgumentError, type Command } from 'commander'
import { readConfig, type Config } from '../settings/config.ts'
import { secretSettings, serveOptions } from '../settings/serve-options.ts'

/** `isShown`: whether help lists them. */
export function addServerSettings(command: Command, isShown: boolean): Command {
  for (const option of serveOptions()) command.addOption(option.hideHelp(!isShown))
  return command.configureOutput({
    outputError: (text, write) => write(isAboutSecrets(text) ? withoutValue(text) : text),
  })
}

/** What is wrong with a secret can be said without showing it. */
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

/** Ends the process where settings exclude each other. */
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

/** The settings that the command line itself names, as flags. */
export function namedFlags(command: Command): string[] {
  return serveOptions()
    .filter((option) => command.getOptionValueSource(option.attributeName()) === 'cli')
    .map((option) => option.long!)
}

/** In the environment, or on the command line. */
function isGiven(command: Command, name: string): boolean {
  const option = command.options.find((candidate) => candidate.name() === name)
  const source = command.getOptionValueSource(option!.attributeName())
  return source !== undefined && source !== 'default'
}
