/** Compiles the analyzers of a target before a command on it analyzes texts. */
import type { Deadline } from '../runtime/deadline.ts'
import type { Target } from '../engine/schema.ts'
import { AnalyzerTooLarge } from '../errors/analyzer-too-large.ts'
import { loadAnalyzer } from '../search/lexical/analyzer.ts'
import { inTurns, type Steps } from '../runtime/steps.ts'

/**
 * Compiles the analyzers of a target in slices, and yields to other requests between them. Returns
 * undefined if all of them are compiled already. An analyzer that is too large fails only the
 * commands that analyze text with it.
 */
export function loadAnalyzers(
  target: Target,
  deadline: Deadline,
): Promise<void> | undefined {
  if (target.kind === 'collection') {
    const steps = loadAnalyzer(target.options.lexical.analyzer)
    return steps && loadInTurns([steps], deadline)
  }
  const loading: Steps<unknown>[] = []
  for (const index of target.definition.indexes) {
    const steps = index.kind === 'text' ? loadAnalyzer(index.analyzer) : undefined
    if (steps !== undefined) loading.push(steps)
  }
  return loading.length === 0 ? undefined : loadInTurns(loading, deadline)
}

async function loadInTurns(
  loading: readonly Steps<unknown>[],
  deadline: Deadline,
): Promise<void> {
  for (const steps of loading)
    try {
      await inTurns(steps, deadline)
    } catch (error) {
      if (!(error instanceof AnalyzerTooLarge)) throw error
    }
}
