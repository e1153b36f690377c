/** Counts strikes, each of which damages a file, by kind of file, kind of damage and outcome. */
import { damageKinds, type Damage } from './damage.ts'
import { outcomes, type Outcome, type StrikeResult } from './strike.ts'

export class DamageTally {
  readonly #strikes: { readonly damage: Damage; readonly result: StrikeResult }[] = []
  controls = 0
  /** One line for each strike that makes the run fail. */
  readonly failed: string[] = []

  count(damage: Damage, result: StrikeResult): void {
    this.#strikes.push({ damage, result })
  }

  get strikes(): number {
    return this.#strikes.length
  }

  outcome(wanted: Outcome): number {
    return this.#strikes.filter(({ result }) => result.outcome === wanted).length
  }

  /** Reasons why the run fails; empty when it passes. */
  get failures(): string[] {
    const changed = this.#strikes.filter(({ result }) => result.checkChanges.length > 0)
    const [first] = changed
    if (first === undefined) return this.failed
    const files = first.result.checkChanges.slice(0, 4).join(', ')
    return [...this.failed, `stela check changed files ${changed.length} times: ${files}`]
  }

  get fileKinds(): ReadonlySet<string> {
    return new Set(this.#strikes.map(({ damage }) => damage.fileKind))
  }

  lines(): string[] {
    if (this.#strikes.length === 0) return []
    const missed = this.#strikes.filter(({ result }) => result.isMissedByCheck).length
    const byCheck = this.#strikes.filter(({ result }) => result.isToldByCheckAlone).length
    const accepted = this.#strikes.filter(({ result }) => result.acceptedLoss).length
    return [
      `damaged files  ${this.#strikes.length}, and ${this.controls} controls without damage`,
      ...this.#table('file', [...this.fileKinds].toSorted(), ({ fileKind }) => fileKind),
      ...this.#table('damage', damageKinds, ({ kind }) => kind),
      `stela check found nothing where answers or the start were affected: ${missed}`,
      `answers differed, and only stela check tells: ${byCheck}`,
      `starts with --accept-lost-catalog: ${accepted}`,
      ...this.#harmless(),
    ]
  }

  #table(
    head: string,
    rows: readonly string[],
    rowOf: (damage: Damage) => string,
  ): string[] {
    const used = outcomes.filter((outcome) => this.outcome(outcome) > 0)
    const cells = (name: string) =>
      this.#strikes.filter(({ damage }) => rowOf(damage) === name)
    return [
      [head, 'strikes', ...used],
      ...rows.map((name) => [
        name,
        String(cells(name).length),
        ...used.map((wanted) =>
          String(cells(name).filter(({ result }) => result.outcome === wanted).length),
        ),
      ]),
    ].map(([name, ...counts]) =>
      `  ${name!.padEnd(20)}${counts.map((text) => text.padStart(10)).join('')}`.trimEnd(),
    )
  }

  #harmless(): string[] {
    const counts = new Map<string, number>()
    for (const { damage, result } of this.#strikes) {
      if (result.outcome !== 'harmless' && result.outcome !== 'noticed') continue
      const why = reasonFor(damage)
      counts.set(why, (counts.get(why) ?? 0) + 1)
    }
    return [...counts].map(([why, count]) => `  no answer differed: ${count} × ${why}`)
  }
}

/** The reason why damage to a file of this kind may have no effect. */
function reasonFor({ fileKind, kind }: Damage): string {
  if (fileKind === 'shared memory') return 'shared memory, rebuilt at the start'
  if (fileKind === 'vector graph' || fileKind === 'snapshot.json')
    return 'snapshot of a vector index, built again'
  if (fileKind.endsWith('-wal')) return 'log frames that the file has already, or none'
  if (fileKind.endsWith('.db'))
    return kind === 'older'
      ? 'older database file, of which the log has what is newer'
      : 'free bytes of a database file, or pages that the log replaces'
  return `${fileKind}, not needed to answer`
}
