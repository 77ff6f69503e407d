import "./style.css";

document.querySelector("#built").textContent = `Built for ${import.meta.env.VITE_WHOM ?? "everyone"}.`;
