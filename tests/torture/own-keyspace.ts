/** A keyspace that one client creates and drops, with a collection in it. */
import type { Random } from '../faults/random.ts'
import type { Line } from './line.ts'
import { changeSchema } from './schema-change.ts'
import { Unexplained } from './unexplained.ts'

export class OwnKeyspace {
  readonly name: string
  isThere = false
  readonly #line: Line
  readonly #random: Random
  /** Minimum and maximum possible number of documents in the keyspace's collection. */
  #documents: readonly [number, number] | undefined

  constructor(line: Line, random: Random, owner: number) {
    this.#line = line
    this.#random = random
    this.name = `ks_${owner}`
  }

  async step(): Promise<void> {
    if (!this.isThere || this.#random.oneIn(4)) return this.#toggle()
    if (this.#documents === undefined) return this.#createCollection()
    return this.#random.oneIn(2) ? this.#insert(this.#documents) : this.verify()
  }

  async verify(): Promise<void> {
    if (this.#documents === undefined) return
    const command = { countDocuments: {} }
    const answer = await this.#line.ask(`/${this.name}/c`, command)
    const count = answer.body.status?.['count']
    const [least, most] = this.#documents
    if (typeof count !== 'number' || count < least || count > most)
      throw new Unexplained(`${this.name}: another count`, {
        command,
        answer: answer.text,
        expected: `${least} to ${most}`,
      })
    this.#documents = [count, count]
  }

  async #toggle(): Promise<void> {
    const { name, isThere } = this
    const isOld = this.#random.oneIn(2)
    const command = isThere
      ? { [isOld ? 'dropNamespace' : 'dropKeyspace']: { name } }
      : { [isOld ? 'createNamespace' : 'createKeyspace']: { name } }
    const changed = await changeSchema(this.#line, {
      path: '',
      command,
      before: isThere ? 'there' : 'absent',
      after: isThere ? 'absent' : 'there',
      read: () => this.#read(),
    })
    if (!changed) return
    this.isThere = !isThere
    this.#documents = undefined
  }

  async #createCollection(): Promise<void> {
    const created = await changeSchema(this.#line, {
      path: `/${this.name}`,
      command: { createCollection: { name: 'c' } },
      before: '',
      after: 'c',
      read: async () => {
        const answer = await this.#line.ask(`/${this.name}`, { findCollections: {} })
        return (answer.body.status!['collections'] as string[]).join()
      },
    })
    if (created) this.#documents = [0, 0]
  }

  async #insert([least, most]: readonly [number, number]): Promise<void> {
    const command = { insertOne: { document: { n: least } } }
    const told = await this.#line.send(`/${this.name}/c`, command)
    if (told.kind === 'answered' && told.answer.codes.length > 0)
      throw new Unexplained(`${this.name}: not inserted`, {
        command,
        answer: told.answer.text,
      })
    this.#documents = [
      told.kind === 'answered' ? least + 1 : least,
      told.kind === 'refused' ? most : most + 1,
    ]
  }

  async #read(): Promise<string> {
    const isOld = this.#random.oneIn(2)
    const command = isOld ? { findNamespaces: {} } : { findKeyspaces: {} }
    const { status } = (await this.#line.ask('', command)).body
    const names = status![isOld ? 'namespaces' : 'keyspaces'] as string[]
    return names.includes(this.name) ? 'there' : 'absent'
  }
}
