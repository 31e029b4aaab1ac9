import { render } from "preact";

import { App } from "./app";
import "./style/base.css";
import "./style/parts.css";
import "./style/fields.css";
import "./style/session.css";
import "./style/search.css";
import "./style/summary.css";
import "./style/compare.css";
import "./style/context.css";
import "./style/proxy.css";

const root = document.getElementById("console");
if (root) render(<App />, root);
