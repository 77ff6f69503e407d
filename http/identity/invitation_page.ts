import { page } from "../page.ts";

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;max-width:26rem;margin:4rem auto;padding:0 1rem;color:#1a2230;background:#fbfcfe}
label{display:block;margin:1rem 0 .25rem}input{width:100%;padding:.5rem;font:inherit;box-sizing:border-box;border:1px solid #aab4c4;border-radius:.3rem}
button{margin-top:1.5rem;padding:.6rem 1.2rem;font:inherit;border:0;border-radius:.3rem;background:#0b5fff;color:#fff}`;

// The token is in the URL fragment, which browsers do not send, so that no log on the way contains it.
const SCRIPT = `const form=document.querySelector("form"),says=document.querySelector("output");
const token=new URLSearchParams(location.hash.slice(1)).get("token");
if(!token)says.textContent="This link is not complete: open the link exactly as you received it.";
form.addEventListener("submit",async(event)=>{event.preventDefault();
const{name,password}=Object.fromEntries(new FormData(form));
const answer=await fetch(location.pathname,{method:"POST",headers:{"content-type":"application/json"},body:JSON.stringify({token,name,password})});
const body=await answer.json();says.textContent=body.message??body.error;if(body.success)form.remove();});`;

const HTML = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Join Slipway</title>
<style>${STYLE}</style><h1>Join Slipway</h1><form><label for="name">Your name</label><input id="name" name="name" autocomplete="name" required>
<label for="password">Password (at least 10 characters)</label><input id="password" name="password" type="password" autocomplete="new-password" minlength="10" required>
<button>Accept the invitation</button></form><p><output></output></p><script>${SCRIPT}</script></html>`;

/** The page behind an invitation link: asks for name and password, then accepts the invitation. */
export function invitationPage(): Response {
  return page(HTML, { style: STYLE, script: SCRIPT });
}
