/** A model's life: providers retire models, and what was built with them must not break. */
import { apiError } from '../errors/api-error.ts'

export interface ModelSupport {
  readonly status: 'SUPPORTED' | 'DEPRECATED' | 'END_OF_LIFE'
  /** What to use instead, for a model that is not supported any more. */
  readonly message?: string
}

/** Throws unless something new may be built on the model. */
export function checkModelForNewUse(model: string, support: ModelSupport): void {
  if (support.status === 'DEPRECATED')
    throw apiError('DEPRECATED_AI_MODEL', {
      model,
      status: support.status,
      note: noteOf(support),
    })
  checkModelForUse(model, support)
}

/** Throws unless what was built on the model may go on using it. */
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
