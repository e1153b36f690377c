import type { UserType, UserTypeName, UserTypes } from './column-type.ts'

/** The definition of a user-defined type. `types` contains all types that the table uses. */
export function userTypeOf({ udtName }: UserTypeName, types: UserTypes): UserType {
  const type = types.find(({ name }) => name === udtName)
  if (type === undefined)
    throw new Error(`the user-defined type ${udtName} is not among those of the table`)
  return type
}
