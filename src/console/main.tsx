import { render } from 'preact'
import { App } from './app/app.tsx'
import { startRouting } from './navigation/route.ts'
import { applyTheme } from './kit/theme.ts'
import './styles/console.css'

applyTheme()
startRouting()
render(<App />, document.querySelector('#app')!)
