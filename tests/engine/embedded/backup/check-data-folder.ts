import { checkEverything } from '../../../../src/engine/embedded/backup/check.ts'

/** The findings of a check of a data folder, in one list. */
export function checkDataFolder(dataDir: string): string[] {
  return [...checkEverything(dataDir)].flatMap(({ name, findings }) =>
    name === undefined ? findings : findings.map((finding) => `${name}: ${finding}`),
  )
}
