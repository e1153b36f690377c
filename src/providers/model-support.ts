/** Life cycle of models: providers retire models, but existing collections must keep working. */
import { apiError } from '../errors/api-error.ts'

export interface ModelSupport {
  readonly status: 'SUPPORTED' | 'DEPRECATED' | 'END_OF_LIFE'
  /** Suggests a replacement for a retired model. */
  readonly message?: string
}

/** Throws unless new collections and tables may use the model. */
export function checkModelForNewUse(model: string, support: ModelSupport): void {
  if (support.status === 'DEPRECATED')
    throw apiError('DEPRECATED_AI_MODEL', {
      model,
      status: support.status,
      note: noteOf(support),
    })
  checkModelForUse(model, support)
}

/** Throws unless existing collections and tables may use the model. */
export function checkModelForUse(model: string, support: ModelSupport): void {
  if (support.status === 'END_OF_LIFE')
    throw apiError('END_OF_LIFE_AI_MODEL', {
      model,
      status: support.status,
      note: noteOf(support),
    })
}

function noteOf({ message }: ModelSupport): string {
  return message ?? 'Choose another model.'
}
