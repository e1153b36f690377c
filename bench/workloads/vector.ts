import { makeVectors } from '../vectors/clusters.ts'
import { findTruth } from '../vectors/exact.ts'
import { studyKernel } from '../vectors/kernel.ts'
import { studyOverHttp } from '../vectors/over-http.ts'
import type { Study } from './study.ts'

const dimension = 768

export const vector: Study = {
  name: 'vector',
  says: 'search by vector: the index alone, in a store and over HTTP',
  size: 100_000,

  async run(settings) {
    const { size, seed, progress } = settings
    progress(`making ${size} vectors and comparing all of them`)
    const set = makeVectors(seed, dimension, size)
    const truth = findTruth(set)
    const alone = await studyKernel(set, truth, settings)
    const served = await studyOverHttp(set, truth, settings)
    return {
      tables: [...alone.tables, ...served.tables],
      figures: [...alone.figures, ...served.figures],
      curve: alone.curve,
    }
  },
}
