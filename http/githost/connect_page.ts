import { escapeHtml, page } from "../page.ts";

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;max-width:30rem;margin:4rem auto;padding:0 1rem;color:#1a2230;background:#fbfcfe}
button{margin-top:1rem;padding:.6rem 1.2rem;font:inherit;border:0;border-radius:.3rem;background:#0b5fff;color:#fff}`;

// The code and the state are in the address of this page, and are sent only once the visitor agrees.
const SCRIPT = `const says=document.querySelector("output"),button=document.querySelector("button");
button.addEventListener("click",async()=>{button.disabled=true;const query=new URLSearchParams(location.search);
const body={state:query.get("state")};if(query.get("code"))body.code=query.get("code");
if(query.get("installation_id"))body.installationId=Number(query.get("installation_id"));
const answer=await fetch(location.pathname,{method:"POST",headers:{"content-type":"application/json"},body:JSON.stringify(body)});
const said=await answer.json();if(said.url)location.assign(said.url);else says.textContent=said.message??said.error;if(said.success)button.remove();});`;

/** The page that says that the git host is connected, and links back. */
export function connectedPage(account: string, home: string): Response {
  const text = `<h1>Connected</h1><p>The account ${escapeHtml(account)} of the git host is connected to Slipway.</p>
<p><a href="${escapeHtml(home)}">Back to Slipway</a></p>`;
  return page(documentOf("Connected", text), { style: STYLE });
}

/** The page that asks a visitor who is not logged in as the one who started whether to go on. */
export function confirmPage({
  organization,
  user,
}: {
  readonly organization: string;
  readonly user: string;
}): Response {
  const text = `<h1>Connect the git host?</h1><p>${escapeHtml(user)} has asked to connect your account on the git host to the
organization <strong>${escapeHtml(organization)}</strong> in Slipway. Its members can then see repositories of that account.</p>
<p>Go on only if that is you, or you know why.</p><button>Connect</button><p><output></output></p><script>${SCRIPT}</script>`;
  return page(documentOf("Connect the git host?", text), { style: STYLE, script: SCRIPT });
}

function documentOf(title: string, body: string): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title>
<style>${STYLE}</style>${body}</html>`;
}
