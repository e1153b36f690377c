import type { UserType, UserTypeName, UserTypes } from './column-type.ts'

/** The types are those that the table names, so this one is among them. */
export function userTypeOf({ udtName }: UserTypeName, types: UserTypes): UserType {
  const type = types.find(({ name }) => name === udtName)
  if (type === undefined)
    throw new Error(`the user-defined type ${udtName} is not among those of the table`)
  return type
}
