/**
 * A part of `npm run lint`. It counts places in comments, test titles and pages that probably need
 * a second reading. The count of an area may fall, but must not rise above its limit in
 * ceilings.json. `--write` lowers the limits to the present counts. `--list AREA` prints the
 * places of an area. It also checks the subjects of new commits, if there is a repository.
 */
import { spawnSync } from 'node:child_process'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { habitsIn, proseIn, subjectProblem } from './habits.ts'

interface Ceilings {
  /** The subjects of all commits after this commit are checked. */
  readonly subjectsSince: string
  /**
   * Maximum number of places in each area. An area is the first two folders of a path, or a file.
   */
  readonly places: Readonly<Record<string, number>>
}

const root = fileURLToPath(new URL('../../', import.meta.url))
const ceilingsFile = `${root}tests/prose/ceilings.json`
const ceilings = JSON.parse(readFileSync(ceilingsFile, 'utf8')) as Ceilings
const { values: chosen } = parseArgs({
  options: { write: { type: 'boolean' }, list: { type: 'string' } },
})

const files = [
  '{src,tests,bench,package}/**/*.{ts,tsx}',
  'docs/**/*.md',
  '*.md',
  'bench/**/*.md',
]
/** Files that are not checked: word lists of languages, and the patterns themselves. */
const excluded = /stop-words|languages\/|tests\/prose\//

const counts: Record<string, number> = {}
for (const path of globSync(files, { cwd: root }).toSorted()) {
  if (excluded.test(path)) continue
  const area = path.split('/').slice(0, 2).join('/')
  for (const [line, prose] of proseIn(path, readFileSync(root + path, 'utf8'))) {
    const found = habitsIn(prose)
    if (found.length === 0) continue
    counts[area] = (counts[area] ?? 0) + 1
    if (chosen.list === area) console.log(`${path}:${line}: ${prose} [${found.join(', ')}]`)
  }
}

if (chosen.write === true)
  writeFileSync(
    ceilingsFile,
    `${JSON.stringify({ ...ceilings, places: counts }, null, 2)}\n`,
  )
else {
  const risen = Object.entries(counts).filter(
    ([area, count]) => count > (ceilings.places[area] ?? 0),
  )
  for (const [area, count] of risen)
    console.error(
      `${area}: ${count} places need a second reading, not ${ceilings.places[area] ?? 0}. ` +
        `List them with: npx node tests/prose/check.ts --list ${area}`,
    )
  const bad = newSubjects().flatMap((subject) => {
    const problem = subjectProblem(subject)
    return problem === undefined ? [] : [`commit "${subject}": its subject ${problem}`]
  })
  for (const problem of bad) console.error(problem)
  if (risen.length + bad.length > 0) process.exitCode = 1
}

/**
 * The subjects of the commits after `subjectsSince`. Empty without a repository, or if its history
 * does not contain that commit.
 */
function newSubjects(): string[] {
  const range = `${ceilings.subjectsSince}..HEAD`
  const log = spawnSync('git', ['log', '--no-merges', '--format=%s', range], {
    cwd: root,
    encoding: 'utf8',
  })
  return log.status === 0 ? log.stdout.split('\n').filter((subject) => subject !== '') : []
}
