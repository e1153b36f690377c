/** Icons on a grid of 16 by 16. Every use has a label, because an icon alone is ambiguous. */
const paths = {
  add: 'M8 3v10M3 8h10',
  back: 'M10 3 5 8l5 5',
  check: 'm3 8.5 3.5 3.5L13 4.5',
  close: 'm4 4 8 8M12 4l-8 8',
  collection: 'M3 4.5h10M3 8h10M3 11.5h6',
  columns: 'M2.5 3.5h11v9h-11zM6.2 3.5v9M9.8 3.5v9',
  copy: 'M5.5 5.5h7v8h-7zM3.5 10.5v-8h7',
  database:
    'M3 4c0-1.1 2.2-2 5-2s5 .9 5 2-2.2 2-5 2-5-.9-5-2zM3 4v8c0 1.1 2.2 2 5 2s5-.9 5-2V4M3 8c0 1.1 2.2 2 5 2s5-.9 5-2',
  delete: 'M3 4.5h10M6 4.5V3h4v1.5M4.5 4.5l.6 9h5.8l.6-9M7 7v4M9 7v4',
  down: 'm4 6 4 4 4-4',
  edit: 'M3 13l.7-2.8L10.8 3l2.2 2.2-7.1 7.1zM9.3 4.6l2.2 2.2',
  filter: 'M2.5 3.5h11L9.5 8.5v4l-3 1v-5z',
  forward: 'm6 3 5 5-5 5',
  keyspace: 'M2 4.5V13h12V5.5H8L6.5 3.5H2z',
  menu: 'M2.5 4.5h11M2.5 8h11M2.5 11.5h11',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  refresh: 'M13 8a5 5 0 1 1-1.5-3.5M13 2.5v2.8h-2.8',
  save: 'M3 3h8l2 2v8H3zM5.5 3v3.5h4V3M5 13V9.5h6V13',
  search: 'M7 2.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9zM10.3 10.3l3.4 3.4',
  similar:
    'M5.5 3a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5zM10.5 8a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5z',
  table: 'M2.5 3.5h11v9h-11zM2.5 6.5h11M7 6.5v6',
  theme: 'M8 2.5a5.5 5.5 0 1 0 0 11zM8 2.5a5.5 5.5 0 0 1 0 11',
  time: 'M8 2.5a5.5 5.5 0 1 1 0 11 5.5 5.5 0 0 1 0-11zM8 5v3.2l2 1.3',
  undo: 'M3 6.5h6.5a3.2 3.2 0 0 1 0 6.5H6M6 3.5l-3 3 3 3',
} as const

export type IconName = keyof typeof paths

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={paths[name]} />
    </svg>
  )
}
