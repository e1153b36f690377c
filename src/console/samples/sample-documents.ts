/** The sample data set: small documents, the same in every run. */
import type { Printable } from '../json/value.ts'
import { sampleTexts } from './sample-texts.ts'

export interface SampleDocument {
  readonly fields: Readonly<Record<string, Printable>>
  /** The text that searches compare with the query. */
  readonly text: string
}

const districts = ['Harbour', 'Old Town', 'Hillside', 'Riverbank', 'Station']

export const sampleDocuments: readonly SampleDocument[] = Object.entries(
  sampleTexts,
).flatMap(([kind, places], group) =>
  places.map(([name, text], position): SampleDocument => {
    const mixed = (group * 31 + position * 17) % 97
    const opens = 6 + (mixed % 7)
    return {
      text: `${name}. ${text}.`,
      fields: {
        _id: `${kind}-${position + 1}`,
        name,
        kind,
        district: districts[mixed % districts.length],
        about: text,
        price: mixed % 4 === 0 ? 0 : Math.round((mixed % 23) * 1.5 * 100) / 100,
        rating: Math.round((30 + (mixed % 21)) * 10) / 100,
        hours: { opens, closes: opens + 6 + (mixed % 6) },
        tags: tagsOf(kind, mixed),
        isOutdoor: ['garden', 'market', 'viewpoint', 'sport'].includes(kind),
        since: { $date: Date.UTC(1900 + mixed, mixed % 12, 1 + (mixed % 28)) },
      },
    }
  }),
)

function tagsOf(kind: string, mixed: number): string[] {
  const tags = ['family', 'quiet', 'evening', 'rainy day', 'free', 'local']
  return [kind, ...tags.filter((_, at) => (mixed >> at) % 2 === 1)].slice(0, 4)
}

/** Dimension of vectors on servers without a local model. */
export const wordDimension = 192

/**
 * A vector that is computed without a model, by feature hashing of words and of their 4-grams.
 * Texts with common words are close to each other, which is enough for a demonstration.
 */
export function wordVector(text: string): number[] {
  const vector = new Array<number>(wordDimension).fill(0)
  const add = (part: string, weight: number) => {
    const mixed = hash(part)
    // About half of the features count negatively, so that hash collisions cancel out on average.
    vector[mixed % wordDimension]! += (mixed >>> 24) % 2 === 0 ? weight : -weight
  }
  for (const word of text.toLowerCase().match(/\p{L}+/gu) ?? []) {
    if (word.length < 4) continue
    add(word, 1)
    for (let at = 0; at + 4 <= word.length; at++) add(word.slice(at, at + 4), 0.4)
  }
  // Cosine similarity is undefined for a zero vector.
  if (!vector.some((value) => value !== 0)) vector[0] = 1
  const length = Math.hypot(...vector)
  return vector.map((value) => Math.round((value / length) * 1e5) / 1e5)
}

function hash(text: string): number {
  let sum = 2_166_136_261
  for (let at = 0; at < text.length; at++)
    sum = Math.imul(sum ^ text.charCodeAt(at), 16_777_619) >>> 0
  return sum
}
