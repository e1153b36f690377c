/** The `lexical` option: whether $lexical texts are indexed, and with which analyzer. */
import type { LexicalOptions } from '../../engine/schema.ts'
import { apiError } from '../../errors/api-error.ts'
import type { ErrorVariables } from '../../errors/catalog.ts'
import { toPlain } from '../../json/plain.ts'
import { isObject, type Value } from '../../json/value.ts'
import {
  defaultAnalyzer,
  findAnalyzerProblem,
  type AnalyzerLimits,
} from '../../search/lexical/recipe.ts'
import type { Steps } from '../../runtime/steps.ts'
import {
  flagIn,
  memberOf,
  refuseUnknownKeys,
  sectionIn,
  type Section,
} from '../../options/option-section.ts'

export interface GivenLexical {
  readonly enabled: boolean | undefined
  /** The requested analyzer; absent for null and {}, too, which both mean the default. */
  readonly analyzer: Value | undefined
}

export function readLexical(options: Section): GivenLexical | undefined {
  const lexical = sectionIn(options, 'lexical')
  if (lexical === undefined) return undefined
  refuseUnknownKeys(lexical, 'COMMAND_FIELD_UNKNOWN', ['enabled', 'analyzer'])
  const analyzer = memberOf(lexical, 'analyzer')
  return {
    enabled: flagIn(lexical, 'enabled'),
    analyzer: isObject(analyzer) && analyzer.size === 0 ? undefined : analyzer,
  }
}

/** The `lexical` options of collections that do not set any. */
export function defaultLexical(available: boolean): LexicalOptions {
  return available ? { enabled: true, analyzer: defaultAnalyzer } : { enabled: false }
}

export function* resolveLexical(
  given: GivenLexical | undefined,
  available: boolean,
  limits: AnalyzerLimits,
): Steps<LexicalOptions> {
  if (given === undefined) return defaultLexical(available)
  const { enabled, analyzer = defaultAnalyzer } = given
  if (enabled === undefined) refuse({ reason: 'lexicalNotEnabled' })
  if (!enabled) {
    if (given.analyzer !== undefined) refuse({ reason: 'analyzerThoughDisabled' })
    return { enabled: false }
  }
  if (!available) throw apiError('LEXICAL_FEATURE_NOT_ENABLED')
  const problem = yield* findAnalyzerProblem(analyzer, limits)
  if (problem !== undefined) refuse({ reason: 'analyzer', where: 'lexical: ', problem })
  return { enabled: true, analyzer: toPlain(analyzer) }
}

function refuse(...why: ErrorVariables<'INVALID_CREATE_COLLECTION_OPTIONS'>): never {
  throw apiError('INVALID_CREATE_COLLECTION_OPTIONS', ...why)
}
