/** Options of commands that call the management API of a server. */
import { Option } from 'commander'
import { readUrl } from './records/target.ts'

export function adminUrlOption(): Option {
  return new Option('--admin-url <url>', 'URL of the management API')
    .env('STELA_ADMIN_URL')
    .argParser(readUrl)
    .default('http://127.0.0.1:8182')
}

/** The option `--token`. `whose` describes the required token in the help text. */
export function adminTokenOption(whose: string): Option {
  return new Option('--token <token>', `${whose}; prefer the variable STELA_TOKEN`).env(
    'STELA_TOKEN',
  )
}
