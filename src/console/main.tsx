import { render } from 'preact'
import { App } from './app/app.tsx'
import { startRouting } from './app/route.ts'
import { applyTheme } from './app/theme.ts'
import './styles/console.css'

applyTheme()
startRouting()
render(<App />, document.querySelector('#app')!)
