"""Foreword over HTTP: the API, and the app that the page is part of."""
