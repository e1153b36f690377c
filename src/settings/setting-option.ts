/** A setting: a flag of `stela serve` and an environment variable of the same name. */
import { Option } from 'commander'

export function setting(name: string, value: string, says: string): Option {
  const variable = `STELA_${name.toUpperCase().replaceAll('-', '_')}`
  return new Option(`--${name} ${value}`, says).env(variable)
}

export function onOff(name: string, says: string): Option {
  return setting(name, '<on|off>', says).choices(['on', 'off'])
}
