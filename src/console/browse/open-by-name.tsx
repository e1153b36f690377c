/**
 * Opens a collection or table by name, for tokens that may use it but may not list the
 * keyspace.
 */
import { useState } from 'preact/hooks'
import { CommandError } from '../api/command.ts'
import { goTo, routeTo } from '../navigation/route.ts'
import { Button } from '../kit/button.tsx'
import { TextField } from '../kit/fields.tsx'
import { ErrorNotice } from '../kit/notice.tsx'
import type { Part } from '../catalog/catalog.ts'

/**
 * Explains that the token may not list a part of the catalog, and offers to open a collection or
 * table by name.
 */
export function UnlistedNotice({
  part,
  database,
  keyspace: known = '',
  mayCreate = true,
}: {
  readonly part: Part<readonly unknown[]> | undefined
  readonly database: string
  readonly keyspace?: string
  /** Whether the list may be empty because no object has been created. */
  readonly mayCreate?: boolean
}) {
  const [keyspace, setKeyspace] = useState(known)
  const [name, setName] = useState('')
  const isUnlisted = isForbidden(part?.error) || (part?.value?.length === 0 && !mayCreate)
  return (
    <>
      <ErrorNotice error={part?.error} />
      {isUnlisted && (
        <form
          class="stack open-by-name"
          onSubmit={(event) => {
            event.preventDefault()
            goTo(routeTo(database, keyspace.trim(), name.trim()))
          }}
        >
          <p>
            The token may not list collections and tables. Enter the name of one that it may
            use.
          </p>
          <div class="fields">
            <TextField
              label="Keyspace"
              value={keyspace}
              onChange={setKeyspace}
              isRequired
            />
            <TextField
              label="Collection or table"
              value={name}
              onChange={setName}
              isRequired
            />
          </div>
          <div>
            <Button isSubmit isDisabled={keyspace.trim() === '' || name.trim() === ''}>
              Open
            </Button>
          </div>
        </form>
      )}
    </>
  )
}

export function isForbidden(error: unknown): boolean {
  return error instanceof CommandError && error.isForbidden
}
