/* Fetches and shows the description of the API, and sends the commands that the user tries.
   All links are relative to the page, which may be behind a proxy that adds a prefix. */
'use strict'

const byId = (id) => document.getElementById(id)

/** Creates an element with attributes and children; undefined ones are omitted. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined) element.setAttribute(name, value)
  element.append(...children.flat().filter((child) => child !== undefined))
  return element
}

let schemas = {}

async function start() {
  const response = await fetch('api/json/openapi', { cache: 'no-cache' })
  if (!response.ok) throw new Error(`the server answered ${response.status}`)
  const { info, paths, components } = await response.json()
  schemas = components.schemas
  byId('version').textContent = info.version
  byId('introduction').textContent = info.description
  for (const [path, { summary, post }] of Object.entries(paths))
    showLevel(path, summary, post.requestBody.content['application/json'])
  showShapes()
  openTarget()
}

function showLevel(path, summary, { schema, examples }) {
  const entries = schema.oneOf.map(({ $ref }) => {
    const command = schemas[nameIn($ref)]
    const [name] = command.required
    const ours = Object.values(examples).filter(({ value }) => name in value)
    return { name, element: showCommand(name, nameIn($ref), command, ours) }
  })
  byId('commands').append(
    make(
      'section',
      {},
      make('h2', {}, summary),
      make('code', { class: 'quiet' }, `POST ${path}`),
      entries.map(({ element }) => element),
    ),
  )
  const links = entries.map(({ name, element }) =>
    make('li', {}, make('a', { href: `#${element.id}` }, name)),
  )
  byId('links').append(make('section', {}, make('h2', {}, path), make('ul', {}, links)))
}

/**
 * Shows a command. The content of its entry is created when the entry is first opened, because
 * most entries never are.
 */
function showCommand(name, id, command, examples) {
  const head = entryHead(name, command.description)
  const entry = make('details', { class: 'command', id }, head)
  const tags = command['x-on'].map((kind) => `on a ${kind}`)
  if (command.deprecated) tags.push('deprecated')
  const fill = () =>
    entry.append(
      make(
        'div',
        { class: 'inside' },
        tags.map((tag) => make('span', { class: 'tag' }, tag)),
        fieldsTable(command.properties[name]),
        make('h4', {}, 'Try it'),
        tryForm(examples),
      ),
    )
  entry.addEventListener('toggle', fill, { once: true })
  return entry
}

function entryHead(name, says = '') {
  return make('summary', {}, make('h3', {}, name), make('span', { class: 'quiet' }, says))
}

function showShapes() {
  const entries = Object.entries(schemas)
    .filter(([name]) => !name.endsWith('Command'))
    .map(([name, schema]) =>
      make(
        'details',
        { class: 'shape', id: `shape-${name}` },
        entryHead(name, schema.description),
        make(
          'div',
          { class: 'inside' },
          make('p', {}, typeOf(schema)),
          fieldsTable(schema),
        ),
      ),
    )
  byId('commands').append(make('section', {}, make('h2', {}, 'Schemas'), entries))
}

/** A table with one row for each member of an object, including members of nested objects. */
function fieldsTable(schema) {
  const rows = []
  const list = ({ properties = {}, required = [] }, above) => {
    for (const [name, field] of Object.entries(properties)) {
      const says =
        field.description ?? (field.$ref && schemas[nameIn(field.$ref)].description)
      const isRequired = required.includes(name)
      rows.push(
        make(
          'tr',
          {},
          make('th', { scope: 'row' }, make('code', {}, above + name)),
          make('td', {}, typeOf(field)),
          make(
            'td',
            isRequired ? {} : { class: 'default' },
            isRequired ? 'required' : defaultOf(field),
          ),
          make('td', {}, says ?? ''),
        ),
      )
      if (field.properties) list(field, `${above}${name}.`)
    }
  }
  list(schema, '')
  if (rows.length === 0)
    return schema.oneOf ? '' : make('p', { class: 'quiet' }, 'No fields.')
  const heads = ['Field', 'Type', 'Default', 'Meaning'].map((head) =>
    make('th', { scope: 'col' }, head),
  )
  return make(
    'div',
    { class: 'scroll' },
    make(
      'table',
      { class: 'fields' },
      make('thead', {}, make('tr', {}, heads)),
      make('tbody', {}, rows),
    ),
  )
}

function defaultOf(field) {
  return field.default === undefined ? '' : JSON.stringify(field.default)
}

/** The type of a schema in a few words, with links to named schemas. */
function typeOf(schema) {
  if (schema.$ref) {
    const name = nameIn(schema.$ref)
    return [make('a', { href: `#shape-${name}` }, name)]
  }
  if (schema.oneOf)
    return schema.oneOf.flatMap((choice, i) => [
      i === 0 ? '' : ' or ',
      ...(choice.properties
        ? [`{${Object.keys(choice.properties).join(', ')}}`]
        : typeOf(choice)),
    ])
  if (schema.enum) return [schema.enum.map((value) => JSON.stringify(value)).join(', ')]
  if (schema.items && schema.type === 'array')
    return ['array of ', ...typeOf(schema.items), range(schema.minItems, schema.maxItems)]
  if (typeof schema.additionalProperties === 'object')
    return ['object of ', ...typeOf(schema.additionalProperties)]
  const { minimum, maximum, minLength, maxLength } = schema
  const type = [schema.type ?? 'anything'].flat().join(' or ')
  const characters = maxLength === undefined ? '' : ' characters'
  return [type, range(minimum ?? minLength, maximum ?? maxLength), characters]
}

function range(min, max) {
  if (max === undefined) return min === undefined ? '' : `, at least ${min}`
  return `, ${min ?? 0} to ${max}`
}

function nameIn(ref) {
  return ref.slice(ref.lastIndexOf('/') + 1)
}

function tryForm(examples) {
  const choices = examples.map(({ summary }, i) => make('option', { value: i }, summary))
  const choice = make('select', {}, choices)
  const path = make('input', { class: 'path', spellcheck: 'false', autocapitalize: 'off' })
  const body = make('textarea', { spellcheck: 'false', autocapitalize: 'off' })
  const button = make('button', {}, 'Send')
  const outcome = make('span', { role: 'status' })
  const reply = make('pre', { tabindex: '0', 'aria-label': 'Reply' })
  const form = make(
    'form',
    { class: 'try' },
    make('label', {}, 'Example', choice),
    make('label', {}, 'POST to', path),
    make('label', {}, 'Body', body),
    make('div', { class: 'send' }, button, outcome),
    reply,
  )
  const take = () => {
    const example = examples[choice.value]
    path.value = example['x-path']
    body.value = layOut(JSON.stringify(example.value))
    body.rows = Math.min(body.value.split('\n').length + 1, 24)
  }
  take()
  choice.addEventListener('change', take)
  body.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.requestSubmit()
  })
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    if (button.disabled) return
    button.disabled = true
    outcome.className = ''
    outcome.textContent = 'Sending…'
    reply.textContent = ''
    const { good, says, text } = await send(path.value, body.value)
    outcome.className = good ? '' : 'bad'
    outcome.textContent = says
    reply.textContent = text
    button.disabled = false
  })
  return form
}

async function send(path, body) {
  const headers = { 'Content-Type': 'application/json' }
  if (byId('token').value !== '') headers.Token = byId('token').value
  if (byId('trace').checked) headers['Feature-Flag-request-tracing'] = 'true'
  const startedAt = performance.now()
  try {
    const response = await fetch(`.${path}`, { method: 'POST', headers, body })
    const text = await response.text()
    const elapsed = Math.round(performance.now() - startedAt)
    const failed = !response.ok || /^\{(?:"status":.*)?"errors":/s.test(text)
    const says = `${response.status} ${response.statusText}, ${failed ? 'with errors, ' : ''}${elapsed} ms`
    return { good: !failed, says, text: text.startsWith('{') ? layOut(text) : text }
  } catch (error) {
    return { good: false, says: `No reply arrived: ${error.message}`, text: '' }
  }
}

/**
 * JSON on several lines; short objects and arrays stay on one line. Works on the text, because
 * parsing it would round long numbers.
 */
function layOut(json) {
  const tokens = json.match(/"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s"[\]{},:]+/g) ?? []
  let at = 0
  const next = (pad) => {
    const first = tokens[at++]
    if (first !== '{' && first !== '[') return first
    const [last, gap] = first === '{' ? ['}', ' '] : [']', '']
    const parts = []
    while (at < tokens.length && tokens[at] !== last) {
      if (tokens[at] === ',') at++
      const name = first === '{' ? `${tokens[at]}: ` : ''
      if (name !== '') at += 2
      parts.push(name + next(`${pad}  `))
    }
    at++
    if (parts.length === 0) return first + last
    const line = first + gap + parts.join(', ') + gap + last
    if (line.length <= 72 && !line.includes('\n')) return line
    return `${first}\n${parts.map((part) => `${pad}  ${part}`).join(',\n')}\n${pad}${last}`
  }
  return next('')
}

/** Opens the entry that the URL's fragment names, and scrolls to it. */
function openTarget() {
  const entry = location.hash && byId(decodeURIComponent(location.hash.slice(1)))
  if (!(entry instanceof HTMLDetailsElement)) return
  entry.open = true
  entry.scrollIntoView()
  entry.querySelector('summary').focus({ preventScroll: true })
  if (isNarrow.matches) byId('menu').open = false
}

const isNarrow = matchMedia('(max-width: 48rem)')

byId('menu').open = !isNarrow.matches
addEventListener('hashchange', openTarget)
byId('commands').addEventListener('click', ({ target }) => {
  if (target.hash === location.hash) openTarget()
})
byId('links').addEventListener('click', ({ target }) => {
  if (target.hash === location.hash) openTarget()
})
byId('find').addEventListener('input', ({ target }) => {
  const wanted = target.value.trim().toLowerCase()
  for (const section of byId('links').children) {
    const items = [...section.querySelectorAll('li')]
    for (const item of items) item.hidden = !item.textContent.toLowerCase().includes(wanted)
    section.hidden = items.every((item) => item.hidden)
  }
})
byId('show').addEventListener('change', ({ target }) => {
  byId('token').type = target.checked ? 'text' : 'password'
})

// The token is stored for this browser tab only, until the tab is closed.
byId('token').value = sessionStorage.getItem('token') ?? ''
byId('token').addEventListener('input', ({ target }) => {
  sessionStorage.setItem('token', target.value)
})
byId('access').addEventListener('submit', (event) => event.preventDefault())

start().catch((error) => {
  byId('introduction').textContent =
    `The description of the API cannot be shown: ${error.message}`
})
