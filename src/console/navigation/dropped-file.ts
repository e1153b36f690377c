/** Passes files dropped on a collection or table to its Files page. */
import { Store } from '../api/store.ts'
import { goTo, routeTo } from './route.ts'

interface Dropped {
  readonly key: string
  readonly file: File
}

/** The dropped file, until the Files page takes it. */
export const droppedFile = new Store<Dropped | undefined>(undefined)

interface Where {
  readonly database: string
  readonly keyspace: string
  readonly name: string
}

function keyOf({ database, keyspace, name }: Where): string {
  return `${database}/${keyspace}/${name}`
}

/** Event handlers that let the user drop a file for this collection or table on an element. */
export function fileDrop(where: Where) {
  return {
    onDragOver(event: DragEvent) {
      // Prevents the browser from opening the file instead of the page.
      if (event.dataTransfer?.types.includes('Files') === true) event.preventDefault()
    },
    onDrop(event: DragEvent) {
      const file = event.dataTransfer?.files[0]
      if (file === undefined) return
      event.preventDefault()
      droppedFile.set({ key: keyOf(where), file })
      goTo(routeTo(where.database, where.keyspace, where.name, 'files'))
    },
  }
}

/**
 * Takes the file that was dropped on this collection or table, so that a later call returns
 * undefined.
 */
export function takeDropped(where: Where): File | undefined {
  const dropped = droppedFile.get()
  if (dropped?.key !== keyOf(where)) return undefined
  droppedFile.set(undefined)
  return dropped.file
}
