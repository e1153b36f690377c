/** Filters the models of provider lists by support status. */
import { fromPlain } from '../../json/plain.ts'
import type { Value } from '../../json/value.ts'
import type { Authentications } from '../../providers/authentication.ts'
import type { ModelSupport } from '../../providers/model-support.ts'
import { options, text, type Field } from '../dispatch/fields.ts'
import { violation } from '../../options/read-value.ts'

const statuses = ['SUPPORTED', 'DEPRECATED', 'END_OF_LIFE'] as const

type WantedStatus = ModelSupport['status'] | 'any'

/**
 * Options of the commands that list models. Without options, the commands list supported models.
 * With options but without a status, they list all models.
 */
export const modelOptions: Field<WantedStatus> = {
  get takes() {
    return statusOptions.takes
  },
  read(value, place) {
    if (value === undefined || value === null) return 'SUPPORTED'
    return statusOptions.read(value, place).filterModelStatus
  },
}

const statusOptions = options({
  filterModelStatus: {
    takes: { kind: 'choice', of: [...statuses, ''] },
    read(value: Value | undefined, place): WantedStatus {
      const given = text.read(value, place)
      if (given === undefined || given === '') return 'any'
      const found = statuses.find((status) => status === given.toUpperCase())
      if (found === undefined)
        violation(
          place,
          value,
          `it must be one of ${statuses.join(', ')}, or empty for all`,
        )
      return found ?? 'any'
    },
  } satisfies Field<WantedStatus>,
})

/** Models with the requested status, sorted by name. */
export function wantedModels<M extends { name: string; support: ModelSupport }>(
  models: readonly M[],
  wanted: WantedStatus,
): M[] {
  return models
    .filter(({ support }) => wanted === 'any' || support.status === wanted)
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

export function showSupport({ status, message }: ModelSupport): Value {
  return fromPlain({ status, message })
}

export function showAuthentication({
  NONE,
  HEADER,
  SHARED_SECRET,
}: Authentications): Value {
  return fromPlain({ NONE, HEADER, SHARED_SECRET })
}
