/**
 * Progress of an export or import on standard error: an updated line on a terminal,
 * otherwise a plain line every few seconds.
 */
export interface Reading {
  readonly count: number
  /** The completed share, from 0 to 1; undefined when the total is unknown. */
  readonly part?: number | undefined
}

const redrawMs = 200
const plainMs = 5000
const barLength = 24

export class Meter {
  readonly #noun: string
  readonly #read: () => Reading
  readonly #startedAt = performance.now()
  readonly #isTerminal = process.stderr.isTTY
  readonly #timer: NodeJS.Timeout

  /**
   * `noun` names the counted records. `read` returns the current progress; it is called for each
   * update.
   */
  constructor(noun: string, read: () => Reading) {
    this.#noun = noun
    this.#read = read
    this.#timer = setInterval(() => this.#draw(), this.#isTerminal ? redrawMs : plainMs)
    this.#timer.unref()
  }

  /** Clears the line on a terminal before other output. */
  clear(): void {
    if (this.#isTerminal) process.stderr.write('\r\x1b[K')
  }

  /** Ends the updates. Returns a summary such as "in 1.5 s, 3333 documents a second". */
  finish(count: number): string {
    clearInterval(this.#timer)
    this.clear()
    const seconds = this.#seconds()
    return `in ${seconds.toFixed(1)} s, ${rate(count, seconds)} ${this.#noun} a second`
  }

  #draw(): void {
    const reading = this.#read()
    const text = this.#line(reading)
    process.stderr.write(this.#isTerminal ? `\r\x1b[K${text}` : `stela: ${text}\n`)
  }

  #line({ count, part }: Reading): string {
    const seconds = this.#seconds()
    const said = `${count} ${this.#noun}, ${rate(count, seconds)} a second`
    if (part === undefined) return said
    const percent = `${Math.floor(part * 100)}%`
    const left = part > 0 ? `, ${duration((seconds * (1 - part)) / part)} left` : ''
    if (!this.#isTerminal) return `${percent}, ${said}${left}`
    const done = Math.round(part * barLength)
    return `[${'#'.repeat(done)}${'.'.repeat(barLength - done)}] ${percent} ${said}${left}`
  }

  #seconds(): number {
    return (performance.now() - this.#startedAt) / 1000
  }
}

function rate(count: number, seconds: number): number {
  return Math.round(count / Math.max(seconds, 0.001))
}

/** A duration: "42 s", "3 min" or "1 h 5 min". */
function duration(seconds: number): string {
  if (seconds < 60) return `${Math.ceil(seconds)} s`
  const minutes = Math.ceil(seconds / 60)
  return minutes < 60
    ? `${minutes} min`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
