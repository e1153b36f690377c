import { render } from 'preact'
import { startLinkSignIn } from './api/sign-in-link.ts'
import { App } from './app/app.tsx'
import { startRouting } from './navigation/route.ts'
import { applyTheme } from './kit/theme.ts'
import './styles/console.css'

applyTheme()
startLinkSignIn()
startRouting()
render(<App />, document.querySelector('#app')!)
