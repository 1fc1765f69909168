"use strict";
// start runs the player; what cannot be had is said where lines are.
(async () => {
	const say = (line) => {
		const row = document.createElement("div");
		row.className = "news";
		row.textContent = line;
		document.getElementById("log").appendChild(row);
	};
	try {
		const go = new Go();
		const player = await WebAssembly.instantiateStreaming(fetch("player.wasm"), go.importObject);
		await go.run(player.instance);
		say("reload the page to connect again");
	} catch (err) {
		say("the player does not run: " + err);
	}
})();
