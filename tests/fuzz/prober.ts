/** Sends inputs, several concurrently, and checks the replies. */
import { requestOf, type CommandInput, type Input } from './input.ts'
import { judgeCommand, judgeRaw, type Codes, type Finding } from './oracle.ts'
import { PageStates } from './page-states.ts'
import { readResponses, type Response } from './responses.ts'
import { exchange, NoAnswer, Wire } from './wire.ts'
import type { World } from './world.ts'

export class Prober {
  readonly world: World
  readonly codes: Codes = new Set()
  readonly pageStates = new PageStates()
  /** Number of replies by status. "none": a connection ended without a reply. */
  readonly statuses = new Map<number | 'none', number>()
  readonly #idle: Wire[] = []

  constructor(world: World) {
    this.world = world
  }

  async probe(input: Input, requestId = 'probe'): Promise<Finding | undefined> {
    try {
      return input.kind === 'command'
        ? await this.#probeCommand(input, requestId)
        : await this.#probeRaw(input)
    } catch (error) {
      if (await this.world.hasDied()) return died
      if (error instanceof NoAnswer) return { kind: error.message, detail: '' }
      throw error
    }
  }

  async #probeCommand(
    input: CommandInput,
    requestId: string,
  ): Promise<Finding | undefined> {
    const response = await this.#ask(requestOf(input, requestId))
    this.#count(response.status)
    this.pageStates.learn(input, response.body)
    return judgeCommand(input, response, this.codes)
  }

  async #ask(request: Buffer): Promise<Response> {
    const kept = this.#takeIdle()
    if (kept !== undefined) {
      try {
        return await this.#askOn(kept, request)
      } catch (error) {
        // The server may close an idle connection just when it is used again, so the request is
        // repeated.
        if (!(error instanceof NoAnswer && error.message.includes('without an answer')))
          throw error
      }
    }
    return this.#askOn(await Wire.open(this.world.port), request)
  }

  async #askOn(wire: Wire, request: Buffer): Promise<Response> {
    const response = await wire.ask(request)
    if (wire.isOpen) this.#idle.push(wire)
    return response
  }

  #takeIdle(): Wire | undefined {
    for (let wire = this.#idle.pop(); wire !== undefined; wire = this.#idle.pop())
      if (wire.isOpen) return wire
    return undefined
  }

  async #probeRaw(input: Input & { kind: 'raw' }): Promise<Finding | undefined> {
    const exchanged = await exchange(this.world.port, input)
    const responses = readResponses(exchanged.bytes, true)
    if (typeof responses === 'string' || responses.length === 0) this.#count('none')
    else for (const { status } of responses) this.#count(status)
    if (!this.world.isAlive) return died
    return judgeRaw(input, exchanged, this.codes)
  }

  #count(status: number | 'none'): void {
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1)
  }

  close(): void {
    for (const wire of this.#idle.splice(0)) wire.close()
  }
}

export const died: Finding = { kind: 'the server died', detail: '' }
