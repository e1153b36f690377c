/** A model's life: providers retire models, and what was built with them must not break. */
import { apiError } from '../errors/api-error.ts'

export interface ModelSupport {
  readonly status: 'SUPPORTED' | 'DEPRECATED' | 'END_OF_LIFE'
  /** What to use instead, for a model that is not supported any more. */
  readonly message?: string
}

/** Throws unless something new may be built on the model. */
export function checkModelForNewUse(model: string, support: ModelSupport): void {
  const note = support.message ?? 'Choose another model.'
  switch (support.status) {
    case 'SUPPORTED':
      return
    case 'DEPRECATED':
      throw apiError('DEPRECATED_AI_MODEL', { model, status: support.status, note })
    case 'END_OF_LIFE':
      throw apiError('END_OF_LIFE_AI_MODEL', { model, status: support.status, note })
  }
}
